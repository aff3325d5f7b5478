// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static io.smqtt.cluster.BrokerCluster.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.smqtt.config.ClusterTlsConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.RelayRefusal;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** A front node and a node with a store that prove themselves by certificates. */
class FrontTlsTest {

    private static final ClusterTlsConfig CERTIFICATES = certificates();

    private final BrokerCluster cluster = new BrokerCluster();

    @RegisterExtension
    final BrokerExtension keeper = cluster.keeper(10, CERTIFICATES);

    @RegisterExtension
    final BrokerExtension front = cluster.front(CERTIFICATES);

    private static ClusterTlsConfig certificates() {
        try {
            Path directory = Files.createTempDirectory("front-tls");
            X509Bundle authority = new CertificateBuilder()
                    .ecp256()
                    .subject("CN=nodes")
                    .setIsCertificateAuthority(true)
                    .buildSelfSigned();
            X509Bundle own =
                    new CertificateBuilder().ecp256().subject("CN=node").buildIssuedBy(authority);
            return new ClusterTlsConfig(
                    Files.writeString(directory.resolve("node.pem"), own.getCertificatePathPEM()),
                    Files.writeString(directory.resolve("node.key"), own.getPrivateKeyPEM()),
                    Files.writeString(directory.resolve("ca.pem"), authority.getCertificatePEM()));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void sessionsAreRelayedOverMutualTls() {
        for (int i = 0; i < 2; i++) {
            RawClient client = front.open(ProtocolVersion.MQTT_5);
            assertThat(client.connect(ConnectBytes.of("stored").persistent(1_000))
                            .sessionPresent())
                    .isEqualTo(i == 1);
            client.ping();
            assertThat(cluster.servers("stored")).containsExactly(0);
            client.disconnect();
            keeper.awaitOffline("stored");
        }
    }

    @Test
    void aPasswordThatIsSentWithoutTlsIsNotLogged() throws Exception {
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        Logger log = (Logger) LoggerFactory.getLogger("io.smqtt.cluster.relay");
        lines.start();
        log.addAppender(lines);
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), relayPort())) {
            socket.getOutputStream()
                    .write(ConnectBytes.of("c").userName("u").password("secret").toBytes(ProtocolVersion.MQTT_5));
            await().atMost(PATIENCE).until(() -> cluster.status(0).relay().refused(RelayRefusal.HANDSHAKE) == 1);
        } finally {
            log.detachAppender(lines);
        }

        String hex = HexFormat.of().formatHex("secret".getBytes(StandardCharsets.US_ASCII));
        assertThat(lines.list)
                .isNotEmpty()
                .extracting(ILoggingEvent::getFormattedMessage)
                .noneMatch(line -> line.contains("secret") || line.contains(hex));
    }

    private int relayPort() {
        String relay = cluster.status(0).self().relay();
        return Integer.parseInt(relay.substring(relay.lastIndexOf(':') + 1));
    }
}
