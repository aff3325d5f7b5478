// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.Explanation;
import io.smqtt.message.QoS;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.HealthReport;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Scripts read these names: none of them changes. */
class FieldsTest {

    @Test
    void anExplanation() {
        Explanation explanation = new Explanation(
                "a/b",
                null,
                Explanation.Verdict.NOT_CHECKED,
                true,
                List.of(new Explanation.FilterMatch("a/+", List.of("a", "+ (b)"), 1)),
                List.of(new Explanation.Receiver(
                        "c1",
                        List.of("a/+"),
                        QoS.EXACTLY_ONCE,
                        false,
                        Explanation.Verdict.ALLOWED,
                        1,
                        2,
                        Explanation.Outcome.DROPPED,
                        DropReason.OFFLINE)),
                List.of(new Explanation.Group("g", "a/#", List.of("c2"), 1)),
                List.of("n2"),
                3);

        assertThat(Json.of(Fields.of(new Bounded<>(explanation, Map.of()), Fields::of)))
                .isEqualTo("{\"topic\":\"a/b\",\"clientId\":null,\"publish\":\"NOT_CHECKED\",\"retained\":true,"
                        + "\"filters\":[{\"filter\":\"a/+\",\"path\":[\"a\",\"+ (b)\"],\"subscribers\":1}],"
                        + "\"receivers\":[{\"id\":\"c1\",\"filters\":[\"a/+\"],\"qos\":2,\"online\":false,"
                        + "\"receive\":\"ALLOWED\",\"inFlight\":1,\"queued\":2,\"outcome\":\"DROPPED\","
                        + "\"reason\":\"OFFLINE\"}],\"groups\":[{\"name\":\"g\",\"filter\":\"a/#\","
                        + "\"members\":[\"c2\"],\"online\":1}],\"nodes\":[\"n2\"],\"moreReceivers\":3,"
                        + "\"truncated\":false}");
    }

    @Test
    void aHealthCheck() {
        Map<String, String> checks = new LinkedHashMap<>();
        checks.put("listeners", "bound");
        checks.put("store", "failing");

        assertThat(Json.of(Fields.of(new HealthReport(false, checks))))
                .isEqualTo("{\"status\":\"down\",\"listeners\":\"bound\",\"store\":\"failing\"}");
    }
}
