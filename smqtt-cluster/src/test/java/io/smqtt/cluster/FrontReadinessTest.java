// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static io.smqtt.cluster.BrokerCluster.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.BrokerModule;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.BrokerFigures;
import io.smqtt.spi.HealthReport;
import io.smqtt.spi.MetricsSource;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/** Nodes that are reachable and cannot serve the clients of front nodes. */
class FrontReadinessTest {

    /** Enough that some of them have each node as their first choice. */
    private static final int CLIENTS = 16;

    private final BrokerCluster cluster = new BrokerCluster();

    @RegisterExtension
    final BrokerExtension ready = cluster.keeper(100);

    @RegisterExtension
    final BrokerExtension refusing = cluster.keeperWith(parts -> parts.module(new Unready()));

    @RegisterExtension
    final BrokerExtension front = cluster.front();

    @Test
    void clientsOfANodeThatIsNotReadyComeToAnotherOne() {
        await().atMost(PATIENCE)
                .until(() -> cluster.status(2).peers().stream()
                                .filter(peer ->
                                        peer.reachable() && !peer.node().relay().isEmpty())
                                .count()
                        == 2);
        for (int i = 0; i < CLIENTS; i++) {
            RawClient client = front.open(ProtocolVersion.MQTT_5);
            client.connect(ConnectBytes.of("client-" + i).persistent(1_000));

            assertThat(cluster.servers("client-" + i)).containsExactly(0);
        }
        assertThat(cluster.status(1).relay().opened()).isZero();
    }

    /** It accepts connections, as the kernel does for a process that does not run. */
    @Test
    void clientsOfANodeThatDoesNotAnswerComeToAnotherOne() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 100, InetAddress.getLoopbackAddress())) {
            FrozenNode frozen = cluster.frozen("z", "127.0.0.1:" + socket.getLocalPort());
            frozen.start().block(PATIENCE);
            try {
                await().atMost(PATIENCE)
                        .until(() -> cluster.status(2).peers().stream()
                                .anyMatch(peer -> peer.node().relay().endsWith(":" + socket.getLocalPort())));
                String clientId = clientOf(socket.getLocalPort());
                RawClient client = front.open(ProtocolVersion.MQTT_5).deadline(PATIENCE);

                client.connect(ConnectBytes.of(clientId).persistent(1_000));

                assertThat(cluster.servers(clientId)).containsExactly(0);
                try (Socket tried = socket.accept()) { // it was the first choice
                    assertThat(tried.getInputStream().read()).isEqualTo(-1);
                }
            } finally {
                frozen.stop().block(PATIENCE);
            }
        }
    }

    /** A client identifier whose first choice is a node. */
    private String clientOf(int port) {
        for (int i = 0; ; i++) {
            if (cluster.firstChoice(2, "frozen-" + i).endsWith(":" + port)) {
                return "frozen-" + i;
            }
        }
    }

    /** A node whose health check says that no client is to be sent there. */
    private static final class Unready implements BrokerModule, MetricsSource {

        @Override
        public Mono<Void> start(Core core) {
            return Mono.empty();
        }

        @Override
        public Mono<Void> stop() {
            return Mono.empty();
        }

        @Override
        public MetricsSource metrics() {
            return this;
        }

        @Override
        public String scrape() {
            return "";
        }

        @Override
        public BrokerFigures figures() {
            throw new AssertionError("the door asks for no figures");
        }

        @Override
        public HealthReport live() {
            return new HealthReport(true, Map.of());
        }

        @Override
        public HealthReport ready() {
            return new HealthReport(false, Map.of("store", "failing"));
        }
    }
}
