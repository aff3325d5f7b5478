// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.replication;

import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Proposals of a node to the leaders of groups. One without an answer is sent again, to the next member, so that it may be
 * applied more than once.
 */
final class Calls {

    /** A proposal on its way to a leader. */
    record Proposal(long call, int group, Command command) {}

    /** Result of a proposal that was applied. */
    record Answer(long call, Outcome outcome) {}

    /** The receiver does not lead. */
    record Redirect(long call, int leader) {}

    private final Model model;
    private final Host host;
    private final int self;
    private final Map<Long, Call> open = new HashMap<>();
    private final Map<Integer, Integer> leaders = new HashMap<>();
    private long number;

    Calls(Model model, Host host, int self) {
        this.model = model;
        this.host = host;
        this.self = self;
        number = host.life() * 1_000_000L; // what is answered to an earlier run is no answer to this one
    }

    /**
     * Proposes an entry.
     *
     * @param wanted when false, the proposal is not sent again and its answer is ignored
     */
    void propose(int group, Command command, BooleanSupplier wanted, Consumer<Outcome> done) {
        Call call = new Call(++number, group, command, wanted, done);
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
        private final Command command;
        private final BooleanSupplier wanted;
        private final Consumer<Outcome> done;
        private int attempts;

        Call(long number, int group, Command command, BooleanSupplier wanted, Consumer<Outcome> done) {
            this.number = number;
            this.group = group;
            this.command = command;
            this.wanted = wanted;
            this.done = done;
        }

        void attempt() {
            if (!wanted.getAsBoolean()) {
                open.remove(number);
                return;
            }
            int current = ++attempts;
            int target = target();
            model.links().send(self, target, new Proposal(number, group, command));
            host.after(200 + model.random().nextInt(100), () -> again(current, target));
        }

        private int target() {
            int[] members = model.members(group);
            return leaders.computeIfAbsent(group, key -> members[0]);
        }

        private void again(int current, int target) {
            if (open.containsKey(number) && current == attempts) {
                next(target);
                attempt();
            }
        }

        /** Tries the next member from now on, if nothing else is known meanwhile. */
        private void next(int target) {
            int[] members = model.members(group);
            for (int i = 0; i < members.length; i++) {
                if (members[i] == target) {
                    leaders.replace(group, target, members[(i + 1) % members.length]);
                }
            }
        }

        private void redirected(int from, int leader) {
            int current = ++attempts;
            if (leader >= 0 && leader != from) {
                leaders.replace(group, from, leader);
            } else {
                next(from);
            }
            host.after(10 + model.random().nextInt(30), () -> {
                if (open.containsKey(number) && current == attempts) {
                    attempt();
                }
            });
        }
    }
}
