// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Questions of a node to the servers of groups, and to the leader of the register. One without an answer is asked again, of the next member, so that
 * it may be applied more than once.
 */
final class Calls {

    /**
     * A question.
     *
     * @param body a {@link Change}, or a {@link Command} for the register
     */
    record Question(long call, int group, Object body) {}

    /** The answer. */
    record Answer(long call, Outcome outcome) {}

    /** The receiver does not serve the group. */
    record Redirect(long call, int leader) {}

    private final Model model;
    private final Host host;
    private final int self;
    private final Map<Long, Call> open = new HashMap<>();
    private final Map<Integer, Integer> servers = new HashMap<>();
    private long number;

    Calls(Model model, Host host, int self) {
        this.model = model;
        this.host = host;
        this.self = self;
        number = host.run() * 1_000_000L; // an answer to an earlier run is no answer to this one
    }

    /**
     * Asks a question.
     *
     * @param wanted when false, it is not asked again, and its answer is ignored
     */
    void ask(int group, Object body, BooleanSupplier wanted, Consumer<Outcome> done) {
        Call call = new Call(++number, group, body, wanted, done);
        open.put(call.number, call);
        call.attempt();
    }

    void answered(Answer answer) {
        Call call = open.remove(answer.call());
        if (call != null && call.wanted.getAsBoolean()) {
            call.done.accept(answer.outcome());
        }
    }

    void redirected(int from, Redirect redirect) {
        Call call = open.get(redirect.call());
        if (call != null) {
            call.redirected(from, redirect.leader());
        }
    }

    private final class Call {

        private final long number;
        private final int group;
        private final Object body;
        private final BooleanSupplier wanted;
        private final Consumer<Outcome> done;
        private int attempts;

        Call(long number, int group, Object body, BooleanSupplier wanted, Consumer<Outcome> done) {
            this.number = number;
            this.group = group;
            this.body = body;
            this.wanted = wanted;
            this.done = done;
        }

        private void attempt() {
            if (!wanted.getAsBoolean()) {
                open.remove(number);
                return;
            }
            int target = servers.computeIfAbsent(group, key -> model.members(group)[0]);
            model.network().send(self, target, new Question(number, group, body));
            againAfter(250 + model.random().nextInt(100), () -> next(target));
        }

        private void redirected(int from, int leader) {
            if (leader >= 0 && leader != from) {
                servers.replace(group, from, leader);
            } else {
                next(from);
            }
            againAfter(20 + model.random().nextInt(40), () -> {});
        }

        private void againAfter(int millis, Runnable before) {
            int current = ++attempts;
            host.after(millis, () -> {
                if (open.containsKey(number) && current == attempts) {
                    before.run();
                    attempt();
                }
            });
        }

        /** Tries the next member from now on, if nothing else is known meanwhile. */
        private void next(int target) {
            int[] members = model.members(group);
            for (int i = 0; i < members.length; i++) {
                if (members[i] == target) {
                    servers.replace(group, target, members[(i + 1) % members.length]);
                    return;
                }
            }
        }
    }
}
