// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.admin.JsonFields;
import io.smqtt.admin.api.ProblemException;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.config.AutoSubscriptionConfig;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Rules of the configuration file among those of operators. */
class RuleListTest {

    private final LiveObjects objects = new LiveObjects();
    private final RuleList<AutoSubscriptionConfig> rules =
            new RuleList<>(objects, "auto_subscribe", new AutoSubscriptionFields());

    @AfterEach
    void stop() {
        objects.stop();
    }

    private void configure(int count) {
        Map<String, AutoSubscriptionConfig> file = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            file.put("f" + i, AutoSubscriptionConfig.of("file/" + i));
        }
        rules.start(file, changed -> {});
    }

    private List<AutoSubscriptionConfig> read(List<Map<String, Object>> rows) {
        return rules.read(rows.stream().map(JsonFields::of).toList());
    }

    @Test
    void rulesOfTheFileSayThatTheyCannotBeChanged() {
        configure(1);
        assertThat(rules.rows())
                .containsExactly(Map.of(
                        "topic", "file/0", "qos", 0, "nl", 0, "rap", 0, "rh", 0, "name", "f0", "read_only", true));
    }

    @Test
    void theyMayBeAmongThoseThatAreSentUnchanged() {
        configure(1);
        List<Map<String, Object>> rows = new ArrayList<>(rules.rows());
        rows.add(Map.of("topic", "live"));
        assertThat(read(rows)).containsExactly(AutoSubscriptionConfig.of("live"));
        assertThat(read(List.of())).isEmpty();
    }

    @Test
    void aChangedOneIsRefused() {
        configure(1);
        Map<String, Object> changed = new LinkedHashMap<>(rules.rows().get(0));
        changed.put("qos", 1);
        assertThatThrownBy(() -> read(List.of(changed)))
                .isInstanceOfSatisfying(
                        ProblemException.class,
                        error -> assertThat(error.problem().code()).isEqualTo("READ_ONLY"));
    }

    @Test
    void theLimitCountsThemToo() {
        configure(RuleList.MAX_RULES);
        assertThatThrownBy(() -> read(List.of(Map.of("topic", "live"))))
                .isInstanceOfSatisfying(
                        ProblemException.class,
                        error -> assertThat(error.problem().code()).isEqualTo("EXCEED_LIMIT"));
    }
}
