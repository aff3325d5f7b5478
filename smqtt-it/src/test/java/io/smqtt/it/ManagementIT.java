// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The management port of the real program. */
@Execution(ExecutionMode.CONCURRENT)
class ManagementIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String TOKEN = "0123456789abcdef-secret";
    private static final int MESSAGES = 20_000;

    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();

    private BrokerProcess start(String... settings) throws IOException {
        return LoopbackBroker.start(directory, settings);
    }

    private HttpResponse<String> get(BrokerProcess broker, String path, String... headers) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + broker.port("management") + path);
        HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(PATIENCE);
        if (headers.length > 0) {
            request.headers(headers);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private int status(BrokerProcess broker, String path, String token) throws Exception {
        return get(broker, path, "Authorization", "Bearer " + token).statusCode();
    }

    private double metric(BrokerProcess broker, String series) throws Exception {
        return get(broker, "/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith(series + ' ') || line.startsWith(series + '{'))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    @Test
    void underLoadEveryScrapeAnswersAndInTheEndAllMessagesAreAccountedFor() throws Exception {
        try (BrokerProcess broker = start("listeners.tcp.connect-timeout=60s");
                RawClient publisher = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient subscriber = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            publisher.connect("publisher");
            subscriber.connect("subscriber");
            subscriber.subscribe("load/#", 0);
            Thread reader = new Thread(() -> {
                for (int i = 0; i < MESSAGES; i++) {
                    subscriber.receive();
                }
            });
            reader.start();
            double last = 0;
            for (int i = 1; i <= MESSAGES; i++) {
                publisher.publish("load/" + i % 10, "x", 0);
                if (i % 2_000 == 0) {
                    double received = metric(broker, "smqtt_messages_received_total");
                    assertThat(received).isBetween(last, (double) i);
                    last = received;
                }
            }
            reader.join(PATIENCE.toMillis());
            assertThat(reader.isAlive()).isFalse();

            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(metric(broker, "smqtt_messages_delivered_total"))
                            .isEqualTo(MESSAGES));
            assertThat(metric(broker, "smqtt_messages_received_total")).isEqualTo(MESSAGES);
            assertThat(metric(broker, "smqtt_messages_matched_total")).isEqualTo(MESSAGES);
            assertThat(metric(broker, "smqtt_messages_pending")).isZero();
            assertThat(metric(broker, "smqtt_clients_online")).isEqualTo(2);
        }
    }

    @Test
    void withATokenFileOnlyItsTokenOpensMetricsAndSighupReadsItAgain() throws Exception {
        Path file = Files.writeString(directory.resolve("token"), TOKEN + "\n");
        try (BrokerProcess broker = start("management.token-file=" + file)) {
            HttpResponse<String> without = get(broker, "/metrics");
            assertThat(without.statusCode()).isEqualTo(401);
            assertThat(without.body()).contains("Authorization: Bearer");
            assertThat(without.headers().firstValue("www-authenticate"))
                    .hasValueSatisfying(value -> assertThat(value).startsWith("Bearer"));
            assertThat(status(broker, "/metrics", "wrong")).isEqualTo(401);
            assertThat(status(broker, "/health/ready", "wrong")).isEqualTo(200); // open to everybody
            assertThat(status(broker, "/metrics", TOKEN)).isEqualTo(200);
            assertThat(get(broker, "/health/ready").body()).isEqualTo("{\"status\":\"up\"}\n");
            assertThat(directory.resolve("data/management.token")).doesNotExist();

            Files.writeString(file, "a-newer-token-of-more\n");
            broker.signal("HUP");
            broker.awaitLine("reloaded: ");
            assertThat(status(broker, "/metrics", TOKEN)).isEqualTo(401);
            assertThat(status(broker, "/metrics", "a-newer-token-of-more")).isEqualTo(200);
        }
    }

    @Test
    void withoutATokenFileLookingIsFreeAndTheRestNeedsTheTokenOfTheDataDirectory() throws Exception {
        try (BrokerProcess broker = start()) {
            Path file = directory.resolve("data/management.token");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
            assertThat(get(broker, "/metrics").statusCode()).isEqualTo(200);
            assertThat(get(broker, "/elsewhere").statusCode()).isEqualTo(401);
            assertThat(status(broker, "/elsewhere", TOKEN)).isEqualTo(401);
            assertThat(status(broker, "/elsewhere", Files.readString(file).strip()))
                    .isEqualTo(404);
        }
    }

    @Test
    void withTlsItSpeaksHttpsAndTheProgramKnowsWhomToTrust() throws Exception {
        TestCertificates certificates = TestCertificates.in(directory);
        Path token = Files.writeString(directory.resolve("token"), TOKEN);
        String[] settings = {
            "management.token-file=" + token,
            "management.tls.certificate=" + certificates.serverCertificate(),
            "management.tls.key=" + certificates.serverKey()
        };
        try (BrokerProcess broker = start(settings)) {
            String url = "https://127.0.0.1:" + broker.port("management");
            assertThatThrownBy(() -> get(broker, "/health/ready")).isInstanceOf(IOException.class); // no HTTP
            BigInteger serial = serial(certificates, url);

            String ca = certificates.authority().toString();
            top(0, "smqtt at " + url, "--url", url, "--ca", ca, "--token-file", token.toString());
            top(
                    1,
                    "no metrics from " + url,
                    "--url",
                    url,
                    "--token-file",
                    token.toString()); // a stranger's certificate
            top(1, "holds no certificates", "--url", url, "--ca", token.toString());

            certificates.renewServer();
            broker.signal("HUP");
            broker.awaitLine("reloaded: ");
            assertThat(serial(certificates, url)).isNotEqualTo(serial);

            Files.writeString(certificates.serverKey(), "no key");
            broker.signal("HUP");
            broker.awaitLine("management.tls.key");
            assertThat(serial(certificates, url)).isNotEqualTo(serial); // what it had before
        }
    }

    /** The certificate of the own broker need not name the address it is asked by. */
    @Test
    void theBrokerOfTheConfigurationIsKnownByItsCertificate() throws Exception {
        Path certificate = directory.resolve("own.crt");
        Path key = directory.resolve("own.key");
        List<String> openssl = List.of(
                ForeignProgram.path("openssl"),
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=broker.example.com",
                "-keyout",
                key.toString(),
                "-out",
                certificate.toString());
        try (CapturedProcess made = CapturedProcess.start("openssl", new ProcessBuilder(openssl))) {
            assertThat(made.awaitExit(PATIENCE)).as(made.report()).isZero();
        }
        String[] settings = {"management.tls.certificate=" + certificate, "management.tls.key=" + key};
        try (BrokerProcess broker = start(settings)) {
            String port = Integer.toString(broker.port("management"));
            top(
                    0,
                    "smqtt at https://127.0.0.1:" + port,
                    "--set",
                    settings[0],
                    "--set",
                    settings[1],
                    "--set",
                    "management.port=" + port);
            top(1, "127.0.0.1", "--url", "https://127.0.0.1:" + port, "--ca", certificate.toString());
        }
    }

    private void top(int code, String says, String... options) {
        List<String> arguments = new ArrayList<>(List.of("top", "--interval=0.2", "--count=1"));
        arguments.addAll(List.of(options));
        try (CapturedProcess top = BrokerProcess.run(directory, arguments.toArray(String[]::new))) {
            assertThat(top.awaitExit(PATIENCE)).as("exit code%s", top.report()).isEqualTo(code);
            assertThat(top.report()).contains(says);
        }
    }

    /** Of the certificate that the port shows to one who asks whether the broker is ready. */
    private static BigInteger serial(TestCertificates certificates, String url) throws Exception {
        HttpClient client = HttpClient.newBuilder()
                .sslContext(TestCertificates.context(certificates.authority()))
                .build();
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/health/ready"))
                .timeout(PATIENCE)
                .build();
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        assertThat(response.body()).isEqualTo("{\"status\":\"up\"}\n");
        return ((X509Certificate) response.sslSession().orElseThrow().getPeerCertificates()[0]).getSerialNumber();
    }

    @Test
    void anAddressThatOthersReachIsRefusedWithoutATokenFile() throws Exception {
        try (CapturedProcess start =
                BrokerProcess.run(directory, "start", "--set", "management.host=0.0.0.0", "--data", "data")) {
            assertThat(start.awaitExit(PATIENCE))
                    .as("exit code%s", start.report())
                    .isEqualTo(3);
            assertThat(start.report()).contains("management.token-file", "0.0.0.0");
        }
    }

    @Test
    void aPortThatIsTakenEndsTheStartWithCode4() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName(Endpoint.HOST));
                CapturedProcess start = BrokerProcess.run(
                        directory,
                        "start",
                        "--data=data",
                        "--set=listeners.tcp.port=0",
                        "--set=listeners.ws.port=0",
                        "--set=management.port=" + taken.getLocalPort())) {
            assertThat(start.awaitExit(PATIENCE))
                    .as("exit code%s", start.report())
                    .isEqualTo(4);
            assertThat(start.report()).contains("management", "port " + taken.getLocalPort() + " on 127.0.0.1");
        }
    }

    @Test
    void whileItDrainsTheBrokerLivesAndIsNotReady() throws Exception {
        try (BrokerProcess broker = start("shutdown-timeout=60s", "access.allow-anonymous=true")) {
            assertThat(get(broker, "/health/ready").statusCode()).isEqualTo(200);
            try (RawClient lingering = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_3_1_1)) {
                lingering.connect(ConnectBytes.of("lingering"));
                broker.terminate();

                await().atMost(PATIENCE)
                        .untilAsserted(() ->
                                assertThat(get(broker, "/health/ready").body()).contains("\"draining\""));
            }
            assertThat(broker.awaitExit(PATIENCE)).isZero();
        }
    }

    @Test
    void topShowsTheFiguresAndSaysWhatKeepsItFromThem() throws Exception {
        Path file = Files.writeString(directory.resolve("token"), TOKEN);
        try (BrokerProcess broker = start("management.token-file=" + file)) {
            String url = "http://127.0.0.1:" + broker.port("management");
            try (CapturedProcess top = BrokerProcess.run(
                    directory, "top", "--url", url, "--token-file=token", "--interval=0.2", "--count=2")) {
                assertThat(top.awaitExit(PATIENCE))
                        .as("exit code%s", top.report())
                        .isZero();
                assertThat(top.output().stream().filter(line -> line.contains("smqtt at " + url)))
                        .hasSize(2);
                assertThat(top.report()).contains("event loop", "received", "healthy");
            }
            try (CapturedProcess top = BrokerProcess.run(directory, "top", "--url", url)) {
                assertThat(top.awaitExit(PATIENCE))
                        .as("exit code%s", top.report())
                        .isEqualTo(1);
                assertThat(top.report()).contains("401", "a token is needed");
            }
        }
        try (CapturedProcess top = BrokerProcess.run(directory, "top", "--url", "http://127.0.0.1:1")) {
            assertThat(top.awaitExit(PATIENCE)).as("exit code%s", top.report()).isEqualTo(1);
            assertThat(top.report()).contains("no metrics from http://127.0.0.1:1");
        }
    }
}
