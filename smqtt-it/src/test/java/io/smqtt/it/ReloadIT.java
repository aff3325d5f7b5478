// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ProtocolVersion;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SIGHUP reads the password file, the ACL file and the certificates again, and cuts nobody who is still welcome. */
class ReloadIT {

    private static final int NOT_AUTHORIZED = 0x87;
    private static final int BAD_USER_NAME_OR_PASSWORD = 0x86;

    @TempDir
    static Path directory;

    private TestCertificates certificates;
    private BrokerProcess broker;
    private SSLSocketFactory sockets;

    @BeforeEach
    void start() throws IOException {
        certificates = TestCertificates.in(directory);
        sockets = TestCertificates.context(certificates.authority()).getSocketFactory();
        Files.deleteIfExists(directory.resolve("passwords"));
        password("anna", "--create");
        acl("user anna\ntopic readwrite a/#\n");
        Path file = Files.writeString(directory.resolve("reload.yaml"), """
                management:
                  port: 0
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                    tls:
                      certificate: '%s'
                      key: '%s'
                  ws:
                    enabled: false
                access:
                  password-file: passwords
                  acl-file: acl
                """.formatted(certificates.serverCertificate(), certificates.serverKey()));
        broker = BrokerProcess.start(directory, List.of(), file);
    }

    @AfterEach
    void end() {
        broker.close();
    }

    private static void acl(String rules) throws IOException {
        Files.writeString(directory.resolve("acl"), rules);
    }

    private static void password(String user, String... options) throws IOException {
        String[] arguments = new String[options.length + 5];
        arguments[0] = "passwd";
        System.arraycopy(options, 0, arguments, 1, options.length);
        arguments[options.length + 1] = "--iterations";
        arguments[options.length + 2] = "1000";
        arguments[options.length + 3] = "passwords";
        arguments[options.length + 4] = user;
        try (CapturedProcess passwd = BrokerProcess.run(directory, arguments)) {
            passwd.process().getOutputStream().write((user + "'s word\n").getBytes(StandardCharsets.UTF_8));
            passwd.process().getOutputStream().close();
            assertThat(passwd.awaitExit(Duration.ofSeconds(60))).as("exit code%s", passwd.report()).isZero();
        }
    }

    private RawClient open() throws IOException {
        return RawClient.openTls(broker.port("tcp"), ProtocolVersion.MQTT_5, sockets);
    }

    private static int login(RawClient client, String user) throws IOException {
        return client.login("client of " + user, 0, user, user + "'s word").connAckCode();
    }

    private static BigInteger serial(RawClient client) throws IOException {
        SSLSocket socket = (SSLSocket) client.socket();
        return ((X509Certificate) socket.getSession().getPeerCertificates()[0]).getSerialNumber();
    }

    @Test
    void everythingIsReadAgainWhileConnectionsGoOn() throws IOException {
        try (RawClient anna = open();
                RawClient early = open()) {
            assertThat(login(anna, "anna")).isZero();
            assertThat(anna.subscribe("b/#", 1)).isEqualTo(NOT_AUTHORIZED);
            assertThat(login(early, "bob")).isEqualTo(BAD_USER_NAME_OR_PASSWORD);
            password("bob");
            acl("user anna\ntopic readwrite a/#\ntopic read b/#\nuser bob\ntopic write b/#\n");
            certificates.renewServer();

            broker.signal("HUP");
            broker.awaitLine("read again");

            try (RawClient bob = open()) {
                assertThat(login(bob, "bob")).isZero();
                assertThat(serial(bob)).isNotEqualTo(serial(anna));
                assertThat(anna.subscribe("b/#", 1)).isOne();
                bob.publish("b/x", "from bob");
                assertThat(new String(anna.expect(RawClient.PUBLISH).body(), StandardCharsets.UTF_8)).endsWith("from bob");
            }
        }
    }

    @Test
    void whatIsBrokenStaysAsItWas() throws IOException {
        try (RawClient anna = open()) {
            assertThat(login(anna, "anna")).isZero();
            assertThat(anna.subscribe("a/#", 1)).isOne();
            acl("user anna\ntopic readwrong a/#\n");
            Files.writeString(certificates.serverCertificate(), "no certificate");

            broker.signal("HUP");
            broker.awaitLine("not read again");

            anna.publish("a/x", "still allowed");
            assertThat(new String(anna.expect(RawClient.PUBLISH).body(), StandardCharsets.UTF_8)).endsWith("still allowed");
            try (RawClient second = open()) {
                assertThat(serial(second)).isEqualTo(serial(anna));
                assertThat(second.login("second", 0, "anna", "anna's word").connAckCode()).isZero();
            }
        }
    }
}
