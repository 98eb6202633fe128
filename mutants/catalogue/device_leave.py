"""Wrong versions of `device/leave.py`: copies that land after their lease is gone."""

from mutants.entry import LOCKSTEP, Edit, Named

MUTANTS = (
    Named(
        id="device.leave.landing-does-not-wait",
        does="A copy that nobody owns counts as ended while it still runs.",
        edits=(
            Edit(
                "device.leave",
                "    has_landed = tables.path.end(flight.queued, ok)\n",
                "    has_landed = ok and not flight.queued.failed\n",
            ),
        ),
        expect=(LOCKSTEP,),
        scope="device-wide",
    ),
)
