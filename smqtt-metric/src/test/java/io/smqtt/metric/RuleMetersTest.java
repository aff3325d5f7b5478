// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.smqtt.spi.RuleStatus;
import io.smqtt.spi.SourceStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Meters of rules and sources that operators make and end. */
class RuleMetersTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final List<RuleStatus> rules = new ArrayList<>();
    private final AtomicInteger snapshots = new AtomicInteger();
    private final RuleMeters meters = new RuleMeters(registry, () -> {
        snapshots.incrementAndGet();
        return rules;
    });

    private static RuleStatus rule(String name, long received, long success, long dropped, @Nullable String error) {
        RuleStatus.Counts counts =
                new RuleStatus.Counts(received, 0, 0, 0, received, 0, success, 0, dropped, 0, 0, 0, 0);
        return new RuleStatus(name, "", "", List.of(), List.of(new RuleStatus.Action("out", "file", error, counts)));
    }

    private double value(String meter, String rule) {
        return registry.get("smqtt.rule." + meter)
                .tag("rule", rule)
                .tag("action", "out")
                .meters()
                .iterator()
                .next()
                .measure()
                .iterator()
                .next()
                .getValue();
    }

    private List<String> named(String meter, String tag) {
        return registry.getMeters().stream()
                .filter(each -> each.getId().getName().equals(meter))
                .map(each -> String.valueOf(each.getId().getTag(tag)))
                .sorted()
                .toList();
    }

    @Test
    void metersOfALiveRuleComeAndGoWithIt() {
        meters.add("fixed", "out");
        assertThat(value("up", "fixed")).isEqualTo(1);
        rules.add(rule("fixed", 7, 7, 0, null));
        rules.add(rule("live", 5, 4, 1, "no jar"));

        meters.refresh();

        assertThat(named("smqtt.rule.success", "rule")).containsExactly("fixed", "live");
        assertThat(value("success", "live")).isEqualTo(4);
        assertThat(value("dropped", "live")).isEqualTo(1);
        assertThat(value("up", "live")).isZero();
        assertThat(value("success", "fixed")).isEqualTo(7);
        assertThat(snapshots).as("one snapshot for all meters").hasValue(1);

        rules.clear();
        meters.refresh();
        assertThat(registry.getMeters())
                .allMatch(meter -> "fixed".equals(meter.getId().getTag("rule")));
        assertThat(registry.getMeters()).hasSize(14);
    }

    /** What a change leaves in the queue is received again; a rule of the same name that is made anew counts from 0. */
    @Test
    void counterDoesNotDecreaseWhenARuleIsChanged() {
        rules.add(rule("live", 10, 4, 0, null));
        meters.refresh();
        rules.set(0, rule("live", 6, 4, 1, null));
        meters.refresh();
        assertThat(value("received", "live")).isEqualTo(10);
        assertThat(value("matched", "live")).isEqualTo(10);

        rules.set(0, rule("live", 12, 5, 1, null));
        meters.refresh();
        assertThat(value("received", "live")).isEqualTo(12);

        rules.set(0, rule("live", 2, 1, 0, null));
        meters.refresh();
        assertThat(value("received", "live")).isEqualTo(2);
    }

    @Test
    void metersOfALiveSourceComeAndGoWithIt() {
        List<SourceStatus> sources = new ArrayList<>();
        SourceMeters ofSources = new SourceMeters(registry, () -> sources);
        ofSources.add("fixed");
        sources.add(new SourceStatus("live", "http", SourceStatus.State.RUNNING, null, 10, 1, 2, 3, 4, 5, null));

        ofSources.refresh();

        assertThat(named("smqtt.source.received", "source")).containsExactly("fixed", "live");
        assertThat(registry.get("smqtt.source.inflight")
                        .tag("source", "live")
                        .gauge()
                        .value())
                .isEqualTo(4);
        assertThat(registry.get("smqtt.source.lag")
                        .tag("source", "live")
                        .gauge()
                        .value())
                .isNaN();
        sources.clear();
        ofSources.refresh();
        assertThat(named("smqtt.source.received", "source")).containsExactly("fixed");
    }
}
