// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.access;

import static io.smqtt.message.ProtocolVersion.MQTT_3_1_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.access.PasswordFile;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.config.LimitsConfig;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** First logins, while one address has more wrong logins waiting for their refusals than all together may. */
class DelayedRefusalsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SOCKETS = 60;

    private final AtomicInteger delayed = new AtomicInteger();

    @RegisterExtension
    final BrokerExtension broker = new BrokerExtension(
            DelayedRefusalsTest::configure,
            builder -> builder.observer(new BrokerObserver() {
                @Override
                public void refusalDelayed() {
                    delayed.incrementAndGet();
                }
            }));

    private final AtomicBoolean ended = new AtomicBoolean();
    private final List<Thread> hammers = new ArrayList<>();

    private static BrokerConfigBuilder configure(BrokerConfigBuilder config) {
        PasswordFile users = PasswordFile.empty();
        users.set("user", "secret".getBytes(StandardCharsets.UTF_8), PasswordFile.Kind.PBKDF2_SHA_512, 1_000);
        try {
            Path file = Files.createTempDirectory("smqtt-test").resolve("users");
            users.write(file);
            return config.access(AccessConfig.builder()
                            .passwordFile(file)
                            .failedLogins(1)
                            .failedLoginDelay(Duration.ofSeconds(5))
                            .build())
                    .limits(LimitsConfig.builder()
                            .maxPendingConnections(40)
                            .maxPendingConnectionsPerAddress(20)
                            .maxPendingBytes(100_000)
                            .build());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @AfterEach
    void end() throws InterruptedException {
        ended.set(true);
        for (Thread hammer : hammers) {
            hammer.join(PATIENCE.toMillis());
        }
    }

    /** Returns the bytes of the answer; none if the broker has closed the connection. */
    private byte[] login(String from, String clientId, String password, int willBytes) {
        InetSocketAddress to = broker.address();
        try (Socket socket = new Socket(to.getAddress(), to.getPort(), InetAddress.getByName(from), 0)) {
            socket.setSoTimeout((int) PATIENCE.toMillis());
            ConnectBytes connect = ConnectBytes.of(clientId)
                    .will(PublishBytes.to("will").payload("x".repeat(willBytes)))
                    .userName("user")
                    .password(password);
            socket.getOutputStream().write(connect.toBytes(MQTT_3_1_1));
            return socket.getInputStream().readNBytes(4);
        } catch (IOException e) {
            return new byte[0];
        }
    }

    @Tag("slow")
    @Test
    void keepNobodyElseOut() {
        for (int i = 0; i < SOCKETS; i++) {
            String clientId = "hammer" + i;
            Thread thread = new Thread(() -> {
                while (!ended.get()) {
                    login("127.0.0.1", clientId, "wrong", 5_000);
                }
            });
            hammers.add(thread);
            thread.start();
        }
        await().atMost(PATIENCE).until(() -> delayed.get() >= 10);

        for (int i = 0; i < 20; i++) {
            assertThat(login("127.0.0.2", "client" + i, "secret", 1)).hasSize(4).endsWith(0);
        }
    }
}
