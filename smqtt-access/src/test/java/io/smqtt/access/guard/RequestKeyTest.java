// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.access.backend.TopicRequest;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RequestKeyTest {

    private static final BackendRequest CLIENT = client("c", "ann", "192.0.2.7", "tcp", Map.of());

    private final RequestKey keys = new RequestKey(false);

    private static BackendRequest client(
            String clientId, String userName, String host, String listener, Map<String, String> attributes) {
        return new BackendRequest(
                clientId,
                userName,
                null,
                new InetSocketAddress(host, 4711),
                listener,
                ProtocolVersion.MQTT_5,
                CertificateNames.NONE,
                attributes);
    }

    private static TopicRequest publish(BackendRequest client, String topic) {
        return new TopicRequest(client, AccessAction.PUBLISH, topic, QoS.AT_MOST_ONCE, false);
    }

    @Test
    void equalQuestionsAboutATopicHaveOneKey() {
        assertThat(keys.of(publish(CLIENT, "t"))).isEqualTo(keys.of(publish(CLIENT, "t")));
        assertThat(keys.of(publish(CLIENT, "t"))).isNotEqualTo(new RequestKey(false).of(publish(CLIENT, "t")));
    }

    /** Each of these may be part of a request, so that one answer must not stand for two of them. */
    @Test
    void questionsThatDifferInOneValueHaveDifferentKeys() {
        List<ByteBuffer> all = Stream.of(
                        publish(CLIENT, "t"),
                        publish(CLIENT, "t2"),
                        publish(CLIENT, ""),
                        new TopicRequest(CLIENT, AccessAction.SUBSCRIBE, "t", QoS.AT_MOST_ONCE, false),
                        new TopicRequest(CLIENT, AccessAction.PUBLISH, "t", QoS.AT_LEAST_ONCE, false),
                        new TopicRequest(CLIENT, AccessAction.PUBLISH, "t", QoS.AT_MOST_ONCE, true),
                        publish(client("d", "ann", "192.0.2.7", "tcp", Map.of()), "t"),
                        publish(client("c", "bob", "192.0.2.7", "tcp", Map.of()), "t"),
                        publish(client("c", null, "192.0.2.7", "tcp", Map.of()), "t"),
                        publish(client("c", "", "192.0.2.7", "tcp", Map.of()), "t"),
                        publish(client("c", "ann", "192.0.2.8", "tcp", Map.of()), "t"),
                        publish(client("c", "ann", "192.0.2.7", "ws", Map.of()), "t"),
                        publish(client("c", "ann", "192.0.2.7", "tcp", Map.of("a", "b")), "t"),
                        publish(client("c", "ann", "192.0.2.7", "tcp", Map.of("ab", "")), "t"),
                        publish(client("c", "ann", "192.0.2.7", "tcp", Map.of("a", "b", "PUBLISH", "t")), "t"))
                .map(keys::of)
                .toList();

        assertThat(all).doesNotHaveDuplicates().doesNotContain(keys.of("user", CLIENT), keys.of("topic", CLIENT));
    }

    @Test
    void thePortCountsOnlyWhereARequestHasIt() {
        BackendRequest other = new BackendRequest(
                "c",
                "ann",
                null,
                new InetSocketAddress("192.0.2.7", 9),
                "tcp",
                ProtocolVersion.MQTT_5,
                CertificateNames.NONE,
                Map.of());
        RequestKey withPort = new RequestKey(true);

        assertThat(keys.of(publish(other, "t"))).isEqualTo(keys.of(publish(CLIENT, "t")));
        assertThat(withPort.of(publish(other, "t"))).isNotEqualTo(withPort.of(publish(CLIENT, "t")));
    }
}
