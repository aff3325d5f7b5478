// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Detects when the other nodes know the routes of this node, or when everything that they have routed has arrived here. */
@OnClusterLoop
final class RouteSync {

    private final ClientWire wire;
    private final long retryNanos;
    private final Map<Long, Question> open = new HashMap<>();
    private long numbers;

    RouteSync(ClientWire wire, Duration retry) {
        this.wire = wire;
        this.retryNanos = retry.toNanos();
    }

    private static final class Question {

        private final Frame.Sync frame;
        private final Set<String> missing;
        private final Consumer<Boolean> done;
        private final long endNanos;
        private long askedAtNanos;

        Question(Frame.Sync frame, Set<String> missing, Consumer<Boolean> done, long nowNanos, long endNanos) {
            this.frame = frame;
            this.missing = missing;
            this.done = done;
            this.askedAtNanos = nowNanos;
            this.endNanos = endNanos;
        }
    }

    /**
     * Sends a request to all reachable nodes; nodes that become unreachable need not answer.
     *
     * @param sequence the last required change of the own routes
     * @param fence whether to wait for routed messages, too
     * @param longest the timeout of the answers
     * @param done true if all have answered
     */
    void ask(long sequence, boolean fence, Duration longest, Consumer<Boolean> done) {
        Set<String> others = new HashSet<>(wire.others());
        if (others.isEmpty()) {
            done.accept(true);
            return;
        }
        long now = wire.nanoTime();
        Frame.Sync frame = new Frame.Sync(++numbers, sequence, fence);
        open.put(frame.number(), new Question(frame, others, done, now, now + longest.toNanos()));
        List.copyOf(others).forEach(other -> wire.send(other, frame));
    }

    void answered(String from, Frame.Synced answer) {
        Question question = open.get(answer.number());
        if (question != null && question.missing.remove(from)) {
            endIfComplete(question);
        }
    }

    private void endIfComplete(Question question) {
        if (question.missing.isEmpty() && open.remove(question.frame.number()) != null) {
            question.done.accept(true);
        }
    }

    void down(String nodeId) {
        for (Question question : new ArrayList<>(open.values())) {
            question.missing.remove(nodeId);
            endIfComplete(question);
        }
    }

    void tick(long nowNanos) {
        for (Question question : new ArrayList<>(open.values())) {
            if (nowNanos - question.endNanos >= 0) {
                open.remove(question.frame.number());
                question.done.accept(false);
            } else if (nowNanos - question.askedAtNanos >= retryNanos) {
                question.askedAtNanos = nowNanos;
                List.copyOf(question.missing).forEach(other -> wire.send(other, question.frame));
            }
        }
    }
}
