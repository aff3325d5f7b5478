// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.SecretMask;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ActionMaskTest {

    private static final ActionMask MASK = new ActionMask(Set.of("url"), Set.of("kafka/key"));

    @Test
    void declarationsCountMoreThanNames() {
        assertThat(MASK.shown("kafka", "key", "plant-${clientid}")).isEqualTo("plant-${clientid}");
        assertThat(MASK.shown("http", "key", "plant-${clientid}")).isEqualTo(SecretMask.MASK);
        assertThat(MASK.shown("http", "url", "http://127.0.0.1/")).isEqualTo(SecretMask.MASK);
        assertThat(ActionMask.BY_NAME.shown("kafka", "key", "plant")).isEqualTo(SecretMask.MASK);
        assertThat(MASK.shown("kafka", "key", "http://user:word@host/")).isEqualTo("http://***@host/");
    }

    @Test
    void ruleShowsTheKeyOfItsRecords() {
        LiveRule rule = new LiveRule(Map.of(
                "sql", "SELECT * FROM \"t\"",
                "actions.a.type", "kafka",
                "actions.a.key", "plant-${clientid}",
                "actions.b.type", "http",
                "actions.b.headers.authorization", "Bearer x"));

        assertThat(rule.shown("a", MASK)).containsEntry("key", "plant-${clientid}");
        assertThat(rule.shown("b", MASK)).containsEntry("headers.authorization", SecretMask.MASK);
    }
}
