// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.smqtt.spi.RuleStatus;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * Meters of the actions of rules of this node, with their names as tags: those of the configuration, and those of operators as long as they exist. All
 * have the values of one moment, that of the last {@link #refresh}.
 */
@AnyThread
final class RuleMeters {

    private final MeterRegistry registry;
    private final Supplier<List<RuleStatus>> rules;

    /** The meters of each action; guarded by this. */
    private final Map<Place, List<Meter>> meters = new HashMap<>();

    private final Set<Place> configured = new HashSet<>(); // guarded by this
    private volatile Map<Place, State> states = Map.of();

    RuleMeters(MeterRegistry registry, Supplier<List<RuleStatus>> rules) {
        this.registry = registry;
        this.rules = rules;
    }

    /** An action of a rule. */
    private record Place(String rule, String action) {

        Tags tags() {
            return Tags.of("rule", rule, "action", action);
        }
    }

    private record State(RuleStatus.Counts counts, boolean isFailing) {}

    /** Adds the meters of an action of the configuration, which stay. */
    synchronized void add(String rule, String action) {
        Place place = new Place(rule, action);
        configured.add(place);
        meters.computeIfAbsent(place, this::register);
    }

    /** Reads all values. Adds the meters of rules that have been made, and removes those of rules that have ended. */
    synchronized void refresh() {
        Map<Place, State> now = new HashMap<>();
        for (RuleStatus rule : rules.get()) {
            for (RuleStatus.Action action : rule.actions()) {
                Place place = new Place(rule.name(), action.name());
                State before = states.get(place);
                RuleStatus.Counts counts = before == null ? action.counts() : later(before.counts(), action.counts());
                now.put(place, new State(counts, action.lastError() != null));
            }
        }
        states = now;
        now.keySet().forEach(place -> meters.computeIfAbsent(place, this::register));
        meters.entrySet().removeIf(entry -> {
            boolean hasEnded = !now.containsKey(entry.getKey()) && !configured.contains(entry.getKey());
            if (hasEnded) {
                entry.getValue().forEach(registry::remove);
            }
            return hasEnded;
        });
    }

    /** Messages that a change of a rule leaves in the queue are not received for a moment: a counter must not decrease by them. */
    private static RuleStatus.Counts later(RuleStatus.Counts before, RuleStatus.Counts now) {
        boolean isAnew = now.success() < before.success()
                || now.dead() < before.dead()
                || now.dropped() < before.dropped()
                || now.noResult() < before.noResult()
                || now.loops() < before.loops();
        return isAnew
                ? now
                : new RuleStatus.Counts(
                        Math.max(before.received(), now.received()),
                        now.pending(),
                        now.noResult(),
                        now.loops(),
                        Math.max(before.matched(), now.matched()),
                        now.failed(),
                        now.success(),
                        now.dead(),
                        now.dropped(),
                        now.queued(),
                        now.retried(),
                        now.waiting(),
                        now.queueDropped());
    }

    private List<Meter> register(Place place) {
        List<Meter> all = new ArrayList<>();
        all.add(counter(
                "received", "messages that an action has taken from its queue", place, RuleStatus.Counts::received));
        all.add(counter("matched", "messages that the statement has selected", place, RuleStatus.Counts::matched));
        all.add(counter(
                "no.result", "messages that the statement has not selected", place, RuleStatus.Counts::noResult));
        all.add(counter(
                "failed",
                "messages for which the statement could not be evaluated, also counted as dead",
                place,
                RuleStatus.Counts::failed));
        all.add(counter("loops", "messages left out because they went in circles", place, RuleStatus.Counts::loops));
        all.add(counter("success", "messages whose rows the sink has", place, RuleStatus.Counts::success));
        all.add(counter("dead", "dead letters", place, RuleStatus.Counts::dead));
        all.add(counter("retried", "rows sent again after a failure", place, RuleStatus.Counts::retried));
        all.add(counter(
                "dropped",
                "messages on their way to the sink that were lost at the end or a change of an action: those of QoS 0, and"
                        + " all without a store",
                place,
                RuleStatus.Counts::dropped));
        all.add(counter(
                "queue.dropped",
                "messages that the queue of an action has dropped, also counted in smqtt.messages.dropped",
                place,
                RuleStatus.Counts::queueDropped));
        all.add(gauge("pending", "messages that wait for their evaluation", place, RuleStatus.Counts::pending));
        all.add(gauge("queued", "messages on their way to the sink", place, RuleStatus.Counts::queued));
        all.add(gauge("waiting", "messages in the queue of an action", place, RuleStatus.Counts::waiting));
        all.add(Gauge.builder("smqtt.rule.up", () -> isFailing(place) ? 0 : 1)
                .description("0 while the sink of an action fails")
                .tags(place.tags())
                .register(registry));
        return all;
    }

    private boolean isFailing(Place place) {
        State state = states.get(place);
        return state != null && state.isFailing();
    }

    private double value(Place place, ToLongFunction<RuleStatus.Counts> of) {
        State state = states.get(place);
        return state == null ? 0 : of.applyAsLong(state.counts());
    }

    private Meter counter(String name, String description, Place place, ToLongFunction<RuleStatus.Counts> of) {
        return FunctionCounter.builder("smqtt.rule." + name, this, all -> all.value(place, of)) // refers to it weakly
                .description(description)
                .tags(place.tags())
                .register(registry);
    }

    private Meter gauge(String name, String description, Place place, ToLongFunction<RuleStatus.Counts> of) {
        return Gauge.builder("smqtt.rule." + name, () -> value(place, of))
                .description(description)
                .tags(place.tags())
                .register(registry);
    }
}
