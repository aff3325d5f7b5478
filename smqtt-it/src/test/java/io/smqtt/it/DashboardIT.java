// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The dashboard of the real program in Chromium. {@code resources/browser/dashboard.mjs} has the scenarios. {@code
 * -Dsmqtt.dashboard.pictures=DIRECTORY} keeps a picture of each page.
 */
class DashboardIT {

    private static final int MANY = 20_000;
    private static final String WANTED = "truck-7";
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long HOUR_SECONDS = 3_600;
    private static final int LONG_NAME_CHARS = 65_000;
    private static final String TOKEN = LoopbackBroker.TOKEN;
    private static final String VIEWER = "eve";
    private static final String VIEWER_PASSWORD = "a longer password of eve";
    private static final Pattern FIRST_PASSWORD = Pattern.compile("with the password (\\S+)");

    @TempDir
    Path directory;

    private final List<RawClient> clients = new ArrayList<>();
    private BrokerProcess broker;
    private String firstPassword = "";

    @BeforeEach
    void start() throws IOException {
        start("listeners.ws.enabled=true", "limits.max-topic-bytes=65535");
    }

    private void start(String... settings) throws IOException {
        broker = LoopbackBroker.open(directory, settings);
        Matcher password = FIRST_PASSWORD.matcher(broker.awaitLine(" with the password "));
        assertThat(password.find()).isTrue();
        firstPassword = password.group(1);
    }

    @AfterEach
    void stop() {
        clients.forEach(RawClient::close);
        broker.close();
    }

    private RawClient client(String id) {
        RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
        clients.add(client);
        client.connect(id);
        return client;
    }

    private void run(String scenario) throws IOException {
        run(scenario, clients.size());
    }

    private void run(String scenario, int sessions) throws IOException {
        scenario(scenario)
                .given("webSocket", "ws://127.0.0.1:" + broker.port("ws") + "/mqtt")
                .given("clients", sessions)
                .run();
    }

    private DashboardScenario scenario(String name) {
        return new DashboardScenario(name, broker, TOKEN)
                .given("wanted", WANTED)
                .given("firstPassword", firstPassword)
                .given("viewer", Map.of("user", VIEWER, "password", VIEWER_PASSWORD));
    }

    @Test
    void theTokenShowsTheOverviewInThreeLanguages() throws Exception {
        client("one");
        client("two").subscribe("a/#", 1);

        run("overview");
    }

    @Test
    void whatOneTabPublishesAnotherOneShowsAsText() throws Exception {
        run("tool");
    }

    @Test
    void oneClientAmong20_000IsFoundAndKicked() throws Exception {
        IntStream.range(0, MANY - 1).parallel().forEach(this::leaveSession);
        RawClient wanted = client(WANTED);
        wanted.subscribe("fleet/a", 1);

        run("clients", MANY);

        wanted.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
    }

    private void leaveSession(int number) {
        try (RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect(ConnectBytes.of("sensor-" + number).persistent(HOUR_SECONDS));
            client.disconnect();
        }
    }

    @Test
    void hostileNamesAreShownAsText() throws Exception {
        String markup = "<img src=x onerror=alert(1)>";
        for (String name : List.of(markup, "\u202egnp.exe", "a/b?c#d%2e", "..", "\u0001\u0007")) {
            RawClient client = client(name);
            String topic = name + "/x";
            if (!name.contains("#")) {
                client.subscribe(topic, 1);
                client.send(PublishBytes.to(topic)
                        .payload("<script>alert(2)</script>")
                        .retained());
            }
        }
        client("i".repeat(LONG_NAME_CHARS))
                .send(PublishBytes.to("t".repeat(LONG_NAME_CHARS)).retained().payload("long"));

        run("hostile");
    }

    /** A shared group whose member is away, and two messages that wait for it. */
    private void leaveGroupWithMessages() {
        RawClient member = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
        clients.add(member);
        member.connect(ConnectBytes.of("worker").persistent(HOUR_SECONDS));
        member.subscribe("$share/workers/jobs/#", 1);
        member.disconnect();
        member.expectClosed();
        RawClient publisher = client("foreman");
        publisher.publish("jobs/1", "first", 1);
        publisher.publish("jobs/2", "second", 1);
    }

    /** The load that the pictures show. */
    private String[] load() {
        String port = Integer.toString(broker.address("tcp").getPort());
        return new String[] {
            "bench",
            "scenario",
            "symmetric",
            "--pubs",
            "20",
            "--qos",
            "1",
            "--rate",
            "400",
            "--duration",
            "10m",
            "--quiet",
            "--prefix",
            "plant/",
            "-p",
            port
        };
    }

    @Test
    void aTraceShowsWhatHappensToAClient() throws Exception {
        client("one").subscribe("a/#", 1);

        run("trace");
    }

    @Test
    void aClientIsBannedAndASharedGroupShowsWhatWaits() throws Exception {
        RawClient banned = client("one");
        leaveGroupWithMessages();

        run("bans");

        banned.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
    }

    @Test
    void aRuleIsTriedOutMadeStoppedStartedAndDeleted() throws Exception {
        broker.close();
        start(
                "rules.configured.sql=SELECT * FROM \"configured\"",
                "rules.configured.description=<img src=x onerror=alert(1)>");
        RawClient device = client("device");
        RawClient operator = client("operator");
        operator.subscribe("alarms/#", 1);

        scenario("rules").run(meanwhile -> {
            meanwhile.await("added");
            device.publish("sensors/1", "{\"t\": 7}", 1);
            device.publish("sensors/1", "{\"t\": 41}", 1);
            operator.expectPublish("alarms/device", "{\"t\":41,\"clientid\":\"device\"}");
        });
    }

    @Test
    @Tag("long")
    void aSourceIsMadeChangedStoppedDisabledAndDeleted() throws Exception {
        List<Integer> ports = LoopbackPorts.some(2);
        broker.close();
        start(
                "sources.configured.type=http",
                "sources.configured.topic=configured",
                "sources.configured.port=" + ports.get(0));
        RawClient device = client("device");
        device.subscribe("orders/#", 0);
        device.subscribe("others/#", 0);

        scenario("sources").given("port", ports.get(1).toString()).run(meanwhile -> {
            meanwhile.await("added");
            post(ports.get(1), "17");
            post(ports.get(1), "18");
            device.expectPublish("orders/17", "new");
            device.expectPublish("orders/18", "new");
            meanwhile.await("changed");
            post(ports.get(1), "19");
            device.expectPublish("others/19", "new");
        });
    }

    /** Posts to a source, once it listens. */
    private static void post(int port, String path) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/" + path))
                .POST(HttpRequest.BodyPublishers.ofString("new"))
                .build();
        await().atMost(PATIENCE)
                .ignoreExceptionsInstanceOf(IOException.class)
                .until(() -> HttpClient.newHttpClient()
                                .send(request, HttpResponse.BodyHandlers.discarding())
                                .statusCode()
                        == 204);
    }

    @Test
    void aViewerLooksAndCannotDoMore() throws Exception {
        client("one").subscribe("a/#", 1);
        run("roles");
    }

    @Test
    @Tag("long")
    void aViewerFindsAnOperationOfTheApi() throws Exception {
        String viewer =
                "{\"username\":\"%s\",\"password\":\"%s\",\"role\":\"viewer\"}".formatted(VIEWER, VIEWER_PASSWORD);
        assertThat(RestApi.of(broker).token(TOKEN).post("/users", viewer).status())
                .isIn(200, 201);

        run("reference");
    }

    @Test
    @Tag("long")
    void everyPageIsAccessibleInLightInDarkAndOnANarrowScreen() throws Exception {
        try (BrokerProcess cloud = LoopbackBroker.open(Files.createDirectory(directory.resolve("cloud")))) {
            broker.close();
            start(
                    "listeners.ws.enabled=true",
                    "bridges.cloud.addresses=127.0.0.1:" + cloud.port("tcp"),
                    "bridges.cloud.topics=plant/+/0 out 1",
                    "rules.hot.sql=SELECT payload.t AS t, clientid FROM \"plant/#\" WHERE payload.t > 40",
                    "rules.hot.description=Rooms that are too hot",
                    "rules.hot.actions.alarm.type=republish",
                    "rules.hot.actions.alarm.topic=alarms/x",
                    "sources.orders.type=http",
                    "sources.orders.topic=orders/${path}",
                    "sources.orders.port=" + LoopbackPorts.one());
            lookAtEveryPage();
        }
    }

    private void lookAtEveryPage() throws IOException {
        client("one").subscribe("a/#", 1);
        leaveGroupWithMessages();
        client("two")
                .publish(PublishBytes.to("a/b")
                        .payload("{\"celsius\":21.5}")
                        .qos(1)
                        .retained());

        if (DashboardScenario.PICTURES == null) {
            run("accessibility");
        } else {
            try (CapturedProcess load = BrokerProcess.run(directory, load())) {
                run("accessibility");
            }
        }
    }

    @Test
    void allPagesButTheToolAndTheDescriptionLoadAtMost60KiB() throws Exception {
        run("size");
    }
}
