// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SIGHUP reads the password file, the ACL file and the certificates again, and cuts nobody who is still welcome. */
class ReloadIT {

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
        broker = LoopbackBroker.start(
                directory,
                "listeners.tcp.tls.certificate=" + certificates.serverCertificate(),
                "listeners.tcp.tls.key=" + certificates.serverKey(),
                "access.password-file=passwords",
                "access.acl-file=acl");
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
            assertThat(passwd.awaitExit(Duration.ofSeconds(60)))
                    .as("exit code%s", passwd.report())
                    .isZero();
        }
    }

    private RawClient open() throws IOException {
        return RawClient.over(sockets.createSocket(Endpoint.HOST, broker.port("tcp")), ProtocolVersion.MQTT_5);
    }

    private static ConnectBytes login(String user) {
        return ConnectBytes.of("client of " + user).userName(user).password(user + "'s word");
    }

    private static BigInteger serial(RawClient client) throws IOException {
        SSLSocket socket = (SSLSocket) client.socket();
        return ((X509Certificate) socket.getSession().getPeerCertificates()[0]).getSerialNumber();
    }

    @Test
    void everythingIsReadAgainWhileConnectionsGoOn() throws IOException {
        try (RawClient anna = open();
                RawClient early = open()) {
            anna.connect(login("anna"));
            assertThat(anna.subscribe("b/#", 0).reasonCodes()).containsExactly(ReasonCode.NOT_AUTHORIZED.value());
            assertThat(early.send(login("bob")).expect(MqttMessageType.CONNACK).reasonCode())
                    .isEqualTo(ReasonCode.BAD_USER_NAME_OR_PASSWORD.value());
            password("bob");
            acl("user anna\ntopic readwrite a/#\ntopic read b/#\nuser bob\ntopic write b/#\n");
            certificates.renewServer();

            broker.signal("HUP");
            broker.awaitLine("reloaded: ");
            RestApi api = RestApi.of(broker).token(Files.readString(directory.resolve("data/management.token")));
            await().untilAsserted(() -> assertThat(
                            api.get("/audit?from=signal").json().findValuesAsText("source"))
                    .contains("SIGHUP"));

            try (RawClient bob = open()) {
                bob.connect(login("bob"));
                assertThat(serial(bob)).isNotEqualTo(serial(anna));
                assertThat(anna.subscribe("b/#", 0).reasonCodes()).containsExactly(0);
                bob.publish("b/x", "from bob", 1);
                anna.expectPublish("b/x", "from bob");
            }
        }
    }

    @Test
    void aUserWhoWasRemovedIsDisconnected() throws IOException {
        password("bob");
        broker.signal("HUP");
        broker.awaitLine("reloaded: ");
        try (RawClient anna = open();
                RawClient bob = open()) {
            anna.connect(login("anna"));
            bob.connect(login("bob"));
            password("bob", "--delete");

            broker.signal("HUP");

            bob.expectDisconnect(ReasonCode.NOT_AUTHORIZED);
            anna.ping();
        }
    }

    @Test
    void whatIsBrokenStaysAsItWas() throws IOException {
        try (RawClient anna = open()) {
            anna.connect(login("anna"));
            assertThat(anna.subscribe("a/#", 0).reasonCodes()).containsExactly(0);
            acl("user anna\ntopic readwrong a/#\n");
            Files.writeString(certificates.serverCertificate(), "no certificate");

            broker.signal("HUP");
            broker.awaitLine("not reloaded");

            anna.send(PublishBytes.to("a/x").payload("still allowed"));
            anna.expectPublish("a/x", "still allowed");
            try (RawClient second = open()) {
                assertThat(serial(second)).isEqualTo(serial(anna));
                second.connect(ConnectBytes.of("second").userName("anna").password("anna's word"));
            }
        }
    }

    @Test
    void filesThatWereCutOffLeaveUsersAndRulesInForce() throws IOException {
        Path users = directory.resolve("passwords");
        String whole = Files.readString(users);
        try (RawClient anna = open()) {
            anna.connect(login("anna"));
            Files.writeString(users, "");
            acl("");

            broker.signal("HUP");
            broker.awaitLine("is empty, but was not before");
            Files.writeString(users, whole.substring(0, whole.length() - 10));
            acl("user anna\ntopic readwrite ");
            broker.signal("HUP");
            broker.awaitLine("has a damaged hash");

            assertThat(anna.subscribe("a/#", 0).reasonCodes()).containsExactly(0);
            try (RawClient second = open()) {
                second.connect(ConnectBytes.of("second").userName("anna").password("anna's word"));
            }
        }
    }
}
