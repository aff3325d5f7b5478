// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.smqtt.spi.RuleStatus;
import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/** Meters of the actions of rules of this node. The tags are names of the configuration. Read when the registry is read. */
@AnyThread
final class RuleMeters {

    private final MeterRegistry registry;
    private final Supplier<List<RuleStatus>> rules;

    private RuleMeters(MeterRegistry registry, Supplier<List<RuleStatus>> rules) {
        this.registry = registry;
        this.rules = rules;
    }

    /** Registers the meters of an action. */
    static void bindTo(MeterRegistry registry, Supplier<List<RuleStatus>> rules, String rule, String action) {
        new RuleMeters(registry, rules).register(rule, action);
    }

    private void register(String rule, String action) {
        Place place = new Place(rule, action);
        counter("received", "messages that an action has taken from its queue", place, RuleStatus.Counts::received);
        counter("matched", "messages that the statement has selected", place, RuleStatus.Counts::matched);
        counter("no.result", "messages that the statement has not selected", place, RuleStatus.Counts::noResult);
        counter(
                "failed",
                "messages for which the statement could not be evaluated, also counted as dead",
                place,
                RuleStatus.Counts::failed);
        counter("loops", "messages left out because they went in circles", place, RuleStatus.Counts::loops);
        counter("success", "messages whose rows the sink has", place, RuleStatus.Counts::success);
        counter("dead", "dead letters", place, RuleStatus.Counts::dead);
        counter("retried", "rows sent again after a failure", place, RuleStatus.Counts::retried);
        counter(
                "dropped",
                "messages on their way to the sink that were lost at the end of an action without a store",
                place,
                RuleStatus.Counts::dropped);
        counter(
                "queue.dropped",
                "messages that the queue of an action has dropped, also counted in smqtt.messages.dropped",
                place,
                RuleStatus.Counts::queueDropped);
        gauge("pending", "messages that wait for their evaluation", place, RuleStatus.Counts::pending);
        gauge("queued", "messages on their way to the sink", place, RuleStatus.Counts::queued);
        gauge("waiting", "messages in the queue of an action", place, RuleStatus.Counts::waiting);
        Gauge.builder("smqtt.rule.up", () -> isFailing(place) ? 0 : 1)
                .description("0 while the sink of an action fails")
                .tags(place.tags())
                .register(registry);
    }

    private record Place(String rule, String action) {

        Tags tags() {
            return Tags.of("rule", rule, "action", action);
        }

        boolean is(RuleStatus status, RuleStatus.Action of) {
            return status.name().equals(rule) && of.name().equals(action);
        }
    }

    private boolean isFailing(Place place) {
        return rules.get().stream()
                .anyMatch(rule -> rule.actions().stream()
                        .anyMatch(action -> place.is(rule, action) && action.lastError() != null));
    }

    private double value(Place place, ToLongFunction<RuleStatus.Counts> of) {
        return rules.get().stream()
                .flatMap(rule -> rule.actions().stream().filter(action -> place.is(rule, action)))
                .mapToLong(action -> of.applyAsLong(action.counts()))
                .sum();
    }

    private void counter(String name, String description, Place place, ToLongFunction<RuleStatus.Counts> of) {
        FunctionCounter.builder("smqtt.rule." + name, rules, all -> value(place, of)) // refers to its object weakly
                .description(description)
                .tags(place.tags())
                .register(registry);
    }

    private void gauge(String name, String description, Place place, ToLongFunction<RuleStatus.Counts> of) {
        Gauge.builder("smqtt.rule." + name, () -> value(place, of))
                .description(description)
                .tags(place.tags())
                .register(registry);
    }
}
