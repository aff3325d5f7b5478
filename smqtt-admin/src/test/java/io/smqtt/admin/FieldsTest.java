// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.ClientDetails;
import io.smqtt.ClientInfo;
import io.smqtt.Explanation;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.HealthReport;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Scripts read these names: none of them changes. */
class FieldsTest {

    private static final String CLIENT = "\"clientId\":\"c\\n1\",\"userName\":null,\"connected\":true,"
            + "\"address\":\"[::1]:1883\",\"listener\":\"tcp\",\"version\":\"MQTT_5\",\"bridge\":false,"
            + "\"subscriptions\":1,\"inFlight\":2,\"queued\":3";

    private final ClientInfo client = new ClientInfo(
            new ClientIdentity(
                    "c\n1", null, new InetSocketAddress("::1", 1883), "tcp", ProtocolVersion.MQTT_5, Set.of()),
            true,
            1,
            2,
            3);

    @Test
    void aListOfSessions() {
        Page<ClientInfo> page = new Page<>(7, List.of(client), false);

        assertThat(Json.of(Fields.of("clients", page, Fields::of)))
                .isEqualTo("{\"total\":7,\"truncated\":false,\"clients\":[{" + CLIENT + "}]}");
    }

    @Test
    void aSession() {
        ClientDetails details = new ClientDetails(
                client,
                Duration.ofSeconds(60),
                null,
                true,
                20,
                5,
                List.of(new ClientDetails.Filter("a/é", QoS.AT_LEAST_ONCE, false, true, 9)));

        assertThat(Json.of(Fields.of(new Bounded<>(details, Map.of()), Fields::of)))
                .isEqualTo("{" + CLIENT + ",\"keepAliveSeconds\":60,\"sessionExpirySeconds\":null,\"stored\":true,"
                        + "\"sendMaximum\":20,\"queuedBytes\":5,\"filters\":[{\"filter\":\"a/é\",\"qos\":1,"
                        + "\"noLocal\":false,\"retainAsPublished\":true,\"identifier\":9}],\"truncated\":false}");
        assertThat(Json.of(Fields.of(new Bounded<>(details, Map.of("filters", 4)), Fields::of)))
                .endsWith(",\"truncated\":true,\"leftOut\":{\"filters\":4}}");
    }

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
