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
        expect=("latest-rows-survive",),
        seen_in=("https://github.com/vllm-project/tpu-inference/pull/1795",),
        scope="device-wide",
    ),
    Named(
        id="device.leave.failure-is-told-as-success",
        does="A write-back that nobody owned has failed, and who waited is told that it landed.",
        edits=(
            Edit(
                "device.leave",
                "    # RESULT\n    return has_landed\n",
                '    # RESULT\n    return has_landed or flight.kind == "write-back"\n',
            ),
        ),
        expect=(LOCKSTEP,),
        scope="device-wide",
    ),
)
