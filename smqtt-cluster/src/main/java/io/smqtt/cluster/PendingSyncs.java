// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Requests of members that wait until their routes are known here, or until all that was routed before has been delivered. */
@OnClusterLoop
final class PendingSyncs {

    private final LocalPart local;
    private final Consumer<Runnable> tasks;
    private final ClientWire wire;
    private final List<Pending> pending = new ArrayList<>();

    PendingSyncs(LocalPart local, Consumer<Runnable> tasks, ClientWire wire) {
        this.local = local;
        this.tasks = tasks;
        this.wire = wire;
    }

    /** A member has sent a request. */
    void add(Member member, Frame.Sync sync) {
        Pending request = new Pending(member, member.epoch(), sync);
        if (sync.fence()) {
            local.afterRouted(() -> tasks.accept(() -> member.outbox().afterDrained(() -> answer(request))));
        } else {
            pending.add(request);
            answerKnown();
        }
    }

    /** Answers the members whose routes are known here by now. */
    void answerKnown() {
        pending.removeIf(request -> {
            boolean known = request.member.routes().sequenceOf(request.epoch) >= request.sync.sequence();
            if (known) {
                answer(request);
            }
            return known;
        });
    }

    /** A member is gone: its requests are dropped. */
    void drop(Member member) {
        pending.removeIf(request -> request.member == member);
    }

    private void answer(Pending request) {
        wire.send(request.member.nodeId(), new Frame.Synced(request.sync.number(), request.epoch));
    }

    private record Pending(Member member, long epoch, Frame.Sync sync) {}
}
