// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.access;

import static io.smqtt.message.ProtocolVersion.MQTT_3_1_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.access.PasswordFile;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.packet.ConnectBytes;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** First logins, while sockets of one address hammer the broker with wrong passwords. */
class FairLoginsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SOCKETS = 100;
    private static final int USERS = 3;
    private static final AtomicInteger WAITING = new AtomicInteger();

    @RegisterExtension
    final BrokerExtension broker = new BrokerExtension(
            FairLoginsTest::access,
            builder -> builder.observer(new BrokerObserver() {
                @Override
                public void passwordsWaiting(int waiting) {
                    WAITING.set(waiting);
                }
            }));

    private final AtomicBoolean ended = new AtomicBoolean();
    private final List<Thread> hammers = new ArrayList<>();

    private static BrokerConfigBuilder access(BrokerConfigBuilder config) {
        PasswordFile users = PasswordFile.empty();
        for (int i = 0; i < USERS; i++) {
            users.set("user" + i, "secret".getBytes(StandardCharsets.UTF_8), PasswordFile.Kind.PBKDF2_SHA_512, 5_000);
        }
        try {
            Path file = Files.createTempDirectory("smqtt-test").resolve("users");
            users.write(file);
            return config.access(AccessConfig.builder()
                    .passwordFile(file)
                    .failedLoginDelay(Duration.ofMillis(500))
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

    /** Wrong passwords, one behind the other, as fast as they are answered. */
    private void hammer(String userName) {
        for (int i = 0; i < SOCKETS; i++) {
            String clientId = "hammer" + i;
            Thread thread = new Thread(() -> {
                while (!ended.get()) {
                    login("127.0.0.1", clientId, userName, "wrong");
                }
            });
            hammers.add(thread);
            thread.start();
        }
        await().atMost(PATIENCE).until(WAITING::get, waiting -> waiting > 10);
    }

    private int login(String from, String clientId, String userName, String password) {
        InetSocketAddress to = broker.address();
        try (Socket socket = new Socket(to.getAddress(), to.getPort(), InetAddress.getByName(from), 0)) {
            socket.setSoTimeout((int) PATIENCE.toMillis());
            ConnectBytes connect = ConnectBytes.of(clientId).userName(userName).password(password);
            socket.getOutputStream().write(connect.toBytes(MQTT_3_1_1));
            byte[] connAck = socket.getInputStream().readNBytes(4);
            assertThat(connAck).hasSize(4);
            return connAck[3];
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void fromAnotherAddressTheySucceed() {
        hammer("eve");

        for (int i = 0; i < USERS; i++) {
            assertThat(login("127.0.0.2", "client" + i, "user" + i, "secret")).isZero();
        }
    }

    @Test
    void ofAnotherUserBehindTheSameAddressTheySucceed() {
        hammer("user0");

        for (int i = 1; i < USERS; i++) {
            assertThat(login("127.0.0.1", "client" + i, "user" + i, "secret")).isZero();
        }
        assertThat(login("127.0.0.2", "client0", "user0", "secret")).isZero();
    }
}
