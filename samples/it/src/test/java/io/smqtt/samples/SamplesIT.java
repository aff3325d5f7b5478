// SPDX-License-Identifier: Apache-2.0
package io.smqtt.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.hivemq.client.mqtt.MqttGlobalPublishFilter;
import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.mqtt5.Mqtt5BlockingClient;
import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each sample is started from its jar, and talks to a real client. */
@Timeout(300)
class SamplesIT {

    @TempDir
    Path directory;

    private static void send(Mqtt5BlockingClient client, String topic, String payload) {
        client.publishWith()
                .topic(topic)
                .qos(MqttQos.AT_LEAST_ONCE)
                .payload(payload.getBytes(StandardCharsets.UTF_8))
                .send();
    }

    private static String next(Mqtt5BlockingClient.Mqtt5Publishes received) throws InterruptedException {
        return received.receive(60, TimeUnit.SECONDS)
                .map(message ->
                        message.getTopic() + " " + new String(message.getPayloadAsBytes(), StandardCharsets.UTF_8))
                .orElse("nothing");
    }

    @Test
    void plainJavaAnswers() throws Exception {
        try (Sample sample = Sample.java("plain-java", directory, Map.of(), "0")) {
            Mqtt5BlockingClient client = Sample.client(sample.awaitMqttPort());
            client.connect();
            try (Mqtt5BlockingClient.Mqtt5Publishes answers = client.publishes(MqttGlobalPublishFilter.ALL)) {
                client.subscribeWith().topicFilter("answer/#").send();
                send(client, "ask/7", "hello");

                assertThat(next(answers)).isEqualTo("answer/7 HELLO");
            } finally {
                client.disconnect();
            }
        }
    }

    @Test
    void boot41ServesMqttAndWebFlux() throws Exception {
        servesMqttAndHttp("boot-4.1", "reactor-http-(nio|epoll|kqueue)-\\d+");
    }

    @Test
    void boot35ServesMqttAndTomcat() throws Exception {
        servesMqttAndHttp("boot-3.5", "http-nio-[^\"]*-exec-\\d+");
    }

    @Test
    void boot35ServesMqttAndWebFlux() throws Exception {
        servesMqttAndHttp("it/boot-3.5-webflux", "reactor-http-(nio|epoll|kqueue)-\\d+");
    }

    @ParameterizedTest
    @CsvSource({"boot-4.1, /smqtt", "it/boot-3.5-webflux, /tools/mqtt"})
    void theDashboardHasUsersOfItsOwn(String name, String path) throws Exception {
        try (Sample sample = web(name, "--smqtt.management.embedded.path=" + path)) {
            sample.awaitMqttPort(); // until then the answer is 503
            Api nobody = new Api(sample.awaitHttpPort(), "");
            HttpResponse<String> page = nobody.get(path + "/dashboard/");

            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.headers().firstValue("Content-Security-Policy").orElse(""))
                    .startsWith("default-src 'self'; connect-src 'self';");
            assertThat(nobody.get(path + "/api/v5/status").body()).contains("smqtt is running");
            assertThat(nobody.get(path + "/api/v5/login").body()).isEqualTo("{\"authentication\":\"none\"}");
            assertThat(nobody.get(path + "/api/v5/clients").statusCode()).isEqualTo(401);
            assertThat(nobody.get("/elsewhere/api/v5/status").statusCode()).isEqualTo(404);
            String password = sample.awaitOutput("log in as admin with the password (\\S+)");
            HttpResponse<String> login =
                    nobody.post(path + "/api/v5/login", "{\"username\":\"admin\",\"password\":\"" + password + "\"}");
            assertThat(login.body()).contains("\"role\":\"administrator\"");
        }
    }

    @Test
    void theDashboardOfBoot35IsForUsersOfTheApplication() throws Exception {
        try (Sample sample = web("boot-3.5")) {
            int http = sample.awaitHttpPort();
            Mqtt5BlockingClient device = Sample.client(sample.awaitMqttPort(), "line/7");
            device.connect();
            Api admin = new Api(http, "alice");
            Api staff = new Api(http, "bob");

            assertThat(new Api(http, "").get("/smqtt/api/v5/clients").statusCode())
                    .isEqualTo(401);
            assertThat(new Api(http, "eve").get("/smqtt/api/v5/clients").body()).contains("NO_ROLE");
            assertThat(staff.get("/smqtt/dashboard/").body()).contains("<div id=\"page\">");
            assertThat(staff.get("/smqtt/api/v5/login").body())
                    .isEqualTo("{\"authentication\":\"application\",\"username\":\"bob\",\"role\":\"viewer\"}");
            assertThat(staff.get("/smqtt/api/v5/clients").body()).contains("\"clientid\":\"line/7\"");
            assertThat(staff.firstEvent("/smqtt/api/v5/stream?topics=monitor")).isEqualTo("event: monitor");
            assertThat(staff.delete("/smqtt/api/v5/clients/~?~=line/7").statusCode())
                    .isEqualTo(403);
            assertThat(device.getState().isConnected()).isTrue();
            assertThat(admin.delete("/smqtt/api/v5/clients/~?~=line/7").statusCode())
                    .isEqualTo(204);
            await().atMost(Sample.PATIENCE).until(() -> !device.getState().isConnected());
            assertThat(sample.output()).doesNotContain("with the password");
        }
    }

    private Sample web(String name, String... more) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(
                "--server.port=0",
                "--server.address=127.0.0.1",
                "--smqtt.listeners.tcp.host=127.0.0.1",
                "--smqtt.listeners.tcp.port=0"));
        arguments.addAll(List.of(more));
        return Sample.java(name, directory, Map.of(), arguments.toArray(String[]::new));
    }

    private void servesMqttAndHttp(String name, String httpThreads) throws Exception {
        try (Sample sample = Sample.java(
                name,
                directory,
                Map.of(),
                "--server.port=0",
                "--server.address=127.0.0.1",
                "--management.endpoints.web.exposure.include=health,metrics,smqtt,configprops,threaddump",
                "--management.endpoint.configprops.show-values=always",
                "--smqtt.listeners.tcp.host=127.0.0.1",
                "--smqtt.listeners.tcp.port=0")) {
            int http = sample.awaitHttpPort();
            Mqtt5BlockingClient device = Sample.client(sample.awaitMqttPort());
            device.connect();
            try (Mqtt5BlockingClient.Mqtt5Publishes commands = device.publishes(MqttGlobalPublishFilter.ALL)) {
                device.subscribeWith().topicFilter("devices/7/command").send();
                send(device, "devices/7/state", "{\"color\":\"red\",\"level\":3}");

                await().atMost(Sample.PATIENCE)
                        .untilAsserted(() -> assertThat(Sample.get(http, "/devices"))
                                .isEqualTo("{\"7\":{\"color\":\"red\",\"level\":3}}"));
                assertThat(Sample.post(http, "/devices/7/command", "{\"color\":\"blue\",\"level\":1}"))
                        .isEqualTo("1");
                assertThat(next(commands)).isEqualTo("devices/7/command {\"color\":\"blue\",\"level\":1}");
                assertThat(Sample.get(http, "/actuator/health"))
                        .contains("\"smqtt\":{\"")
                        .contains("\"listeners\":\"bound\"");
                assertThat(Sample.get(http, "/actuator/smqtt/clients"))
                        .contains("\"count\":1")
                        .contains("\"connected\":true");
                assertThat(Sample.get(http, "/actuator/configprops/smqtt"))
                        .contains("\"native-transport\":\"true\"")
                        .contains("\"host\":\"127.0.0.1\"");
                assertThat(Sample.get(http, "/actuator/metrics/smqtt.sessions.active"))
                        .contains("smqtt.sessions.active");
                // both have dealt with requests: each with threads of its own
                assertThat(Sample.get(http, "/actuator/threaddump"))
                        .containsPattern("\"threadName\":\"smqtt-\\d+\"")
                        .containsPattern("\"threadName\":\"" + httpThreads + "\"")
                        .doesNotContainPattern("\"threadName\":\"reactor-tcp-");
            } finally {
                device.disconnect();
            }
            sample.stop();
            assertThat(sample.awaitEnd()).isTrue();
            assertThat(sample.output()).contains("stopped");
        }
    }

    @Test
    void anUnknownKeyAndAPortInUseAreExplained() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
                Sample unknown = Sample.java(
                        "boot-4.1", directory, Map.of(), "--server.port=0", "--smqtt.listeners.tcp.prot=1");
                Sample inUse = Sample.java(
                        "boot-4.1",
                        directory,
                        Map.of("SMQTT_LISTENERS_TCP_PORT", "" + taken.getLocalPort()),
                        "--server.port=0",
                        "--smqtt.listeners.tcp.host=127.0.0.1")) {
            assertThat(unknown.awaitEnd()).isTrue();
            assertThat(unknown.output())
                    .contains("APPLICATION FAILED TO START")
                    .contains("unknown key listeners.tcp.prot, did you mean listeners.tcp.port?");
            assertThat(inUse.awaitEnd()).isTrue();
            assertThat(inUse.output()).contains("APPLICATION FAILED TO START").contains("set smqtt.listeners.tcp.port");
        }
    }

    @Test
    void boot35WithoutTheOverridesSaysWhatToSet() throws Exception {
        try (Sample sample = Sample.java(
                "it/boot-3.5-as-managed",
                directory,
                Map.of(),
                "--server.port=0",
                "--server.address=127.0.0.1",
                "--smqtt.listeners.tcp.host=127.0.0.1",
                "--smqtt.listeners.tcp.port=0")) {
            assertThat(sample.awaitEnd()).isTrue();
            assertThat(sample.output())
                    .contains("APPLICATION FAILED TO START")
                    .containsPattern("Netty 4\\.1\\.\\d+\\.Final is on the class path, the broker needs 4\\.2")
                    .containsPattern("Reactor 3\\.7\\.\\d+ is on the class path")
                    .contains("netty.version=4.2.")
                    .contains("reactor-bom.version=2025.");
        }
    }

    @Test
    void replicasAreOneBrokerBehindNginx() throws Exception {
        List<Sample> processes = new ArrayList<>();
        try {
            replicas(processes);
            List<Integer> https = new ArrayList<>();
            List<Integer> mqtts = new ArrayList<>();
            for (Sample replica : processes) {
                https.add(replica.awaitHttpPort());
                mqtts.add(replica.awaitMqttPort());
            }
            for (int http : https) {
                await().atMost(Sample.PATIENCE)
                        .untilAsserted(() -> assertThat(Sample.get(http, "/actuator/smqtt/cluster"))
                                .containsPattern("(\"reachable\":true.*){2}")
                                .contains("\"ready\":true"));
            }
            int front = nginx(mqtts, processes);
            clientsOfDifferentReplicasReachEachOther(front, https);
            aClientOfAStoppedReplicaIsServedByAnother(front, processes, https);
        } finally {
            end(processes);
        }
    }

    private static void end(List<Sample> processes) throws InterruptedException {
        for (Sample process : processes) {
            process.stop();
        }
        for (Sample process : processes) {
            process.close();
        }
    }

    private void replicas(List<Sample> processes) throws Exception {
        List<Integer> ports = LoopbackPorts.some(3); // each must know those of all
        String seeds = ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
        for (int i = 0; i < 3; i++) {
            processes.add(Sample.java(
                    "boot-4.1-replicas",
                    directory,
                    Map.of(
                            "NODE",
                            "node-" + i,
                            "MQTT_PORT",
                            "0",
                            "CLUSTER_PORT",
                            "" + ports.get(i),
                            "CLUSTER_SEEDS",
                            seeds,
                            "CLUSTER_SECRET",
                            "only for this test 0123456789"),
                    "--server.port=0",
                    "--server.address=127.0.0.1"));
        }
        for (Sample replica : processes) {
            assertThat(replica.awaitListening()).as(replica.output()).isTrue();
        }
    }

    private static void clientsOfDifferentReplicasReachEachOther(int front, List<Integer> https) throws Exception {
        List<Mqtt5BlockingClient> clients = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Mqtt5BlockingClient client = Sample.client(front);
            await().atMost(Sample.PATIENCE).ignoreExceptions().untilAsserted(client::connect);
            clients.add(client);
        }
        Mqtt5BlockingClient listening = clients.get(0);
        try (Mqtt5BlockingClient.Mqtt5Publishes done = listening.publishes(MqttGlobalPublishFilter.ALL)) {
            listening
                    .subscribeWith()
                    .topicFilter("done/#")
                    .qos(MqttQos.AT_LEAST_ONCE)
                    .send();
            List<String> received = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
                send(clients.get(i % 3), "work/" + i, "x");
            }
            for (int i = 0; i < 9; i++) {
                received.add(next(done));
            }

            assertThat(received) // each was dealt with once, wherever it came from
                    .containsExactlyInAnyOrder(
                            "done/0 X",
                            "done/1 X",
                            "done/2 X",
                            "done/3 X",
                            "done/4 X",
                            "done/5 X",
                            "done/6 X",
                            "done/7 X",
                            "done/8 X");
            for (int http : https) { // least_conn spreads them
                assertThat(Sample.get(http, "/actuator/smqtt/clients")).contains("\"connected\":true");
            }
        } finally {
            clients.forEach(Mqtt5BlockingClient::disconnect);
        }
    }

    private static void aClientOfAStoppedReplicaIsServedByAnother(
            int front, List<Sample> processes, List<Integer> https) throws Exception {
        Mqtt5BlockingClient client = Sample.client(front, "wanderer");
        client.connect();
        List<Integer> left = new ArrayList<>(https);
        int replica = await().atMost(Sample.PATIENCE).until(() -> replicaOf("wanderer", https), found -> found >= 0);
        left.remove(replica);
        processes.get(replica).stop();
        assertThat(processes.get(replica).awaitEnd()).isTrue();
        await().atMost(Sample.PATIENCE).until(() -> !client.getState().isConnected());
        for (int http : left) {
            await().atMost(Sample.PATIENCE)
                    .untilAsserted(() -> assertThat(Sample.get(http, "/actuator/smqtt/cluster"))
                            .doesNotContainPattern("(\"reachable\":true.*){2}"));
        }

        await().atMost(Sample.PATIENCE).ignoreExceptions().untilAsserted(client::connect);
        try (Mqtt5BlockingClient.Mqtt5Publishes done = client.publishes(MqttGlobalPublishFilter.ALL)) {
            assertThat(replicaOf("wanderer", left)).isNotNegative();
            client.subscribeWith()
                    .topicFilter("done/#")
                    .qos(MqttQos.AT_LEAST_ONCE)
                    .send();
            send(client, "work/again", "x");

            assertThat(next(done)).isEqualTo("done/again X");
        } finally {
            client.disconnect();
        }
    }

    /** Which of these replicas has the client's connection: an index, negative for none. */
    private static int replicaOf(String clientId, List<Integer> https) throws Exception {
        for (int i = 0; i < https.size(); i++) {
            String clients = Sample.get(https.get(i), "/actuator/smqtt/clients?match=" + clientId);
            if (clients.contains("\"connected\":true")) {
                return i;
            }
        }
        return -1;
    }

    /** Starts nginx and returns the port that it listens at. */
    private int nginx(List<Integer> mqtts, List<Sample> processes) throws IOException {
        int port = LoopbackPorts.one();
        Path run = Files.createDirectory(directory.resolve("nginx"));
        Sample nginx = nginx(mqtts, port, run);
        processes.add(nginx);
        await().atMost(Sample.PATIENCE).until(() -> Files.exists(run.resolve("nginx.pid")) || !nginx.isAlive());
        assertThat(nginx.isAlive()).as(nginx.output()).isTrue();
        return port;
    }

    private Sample nginx(List<Integer> mqtts, int front, Path run) throws IOException {
        String config = Files.readString(Sample.directory("boot-4.1-replicas").resolve("nginx.conf"))
                .replace("RUN_DIRECTORY", run.toString())
                .replace("FRONT_PORT", String.valueOf(front));
        for (int i = 0; i < 3; i++) {
            config = config.replace("MQTT_PORT_" + (i + 1), mqtts.get(i).toString());
        }
        Path module = Path.of("/usr/lib/nginx/modules/ngx_stream_module.so");
        if (Files.exists(module)) {
            config = "load_module " + module + ";\n" + config;
        }
        Path file = Files.writeString(run.resolve("nginx.conf"), config);
        return Sample.start(List.of("nginx", "-c", file.toString(), "-p", run.toString()), directory, Map.of());
    }
}
