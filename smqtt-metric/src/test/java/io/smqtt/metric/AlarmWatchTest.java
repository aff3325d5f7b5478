// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.smqtt.BrokerModule;
import io.smqtt.config.AlarmConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ManagementTlsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Alarm;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.spi.StoreFigures;
import io.smqtt.topic.TopicName;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AlarmWatchTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final ClusterStatus.Traffic NOTHING = new ClusterStatus.Traffic(
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            Arrays.stream(ClusterTransport.Refusal.values()).collect(Collectors.toMap(reason -> reason, reason -> 0L)));

    @TempDir
    Path directory;

    private static ObservedBroker broker(AlarmConfig alarms, LimitsConfig limits) {
        return new ObservedBroker(
                config -> config.limits(limits),
                management -> management.sysInterval(Duration.ofMinutes(1)).alarms(alarms));
    }

    private static BrokerMeters meters(Path directory) {
        return new BrokerMeters(new SimpleMeterRegistry(), Set.of("tcp"), directory);
    }

    @Test
    void conditionsAreFoundInFiguresThatExist() {
        LimitsConfig limits = LimitsConfig.builder().maxSessions(5).build();
        AlarmConfig config =
                AlarmConfig.defaults().toBuilder().minFreeDiskBytes(1L << 40).build();
        try (ObservedBroker broker = broker(config, limits)) {
            BrokerMeters meters = meters(directory);
            AlarmChecks checks = new AlarmChecks(broker.core(), meters, List.of());
            assertThat(checks.check(Instant.now())).isEmpty(); // nothing was measured yet

            for (int i = 0; i < 4; i++) {
                broker.client("client" + i);
            }
            meters.store().measured(new StoreFigures(false, 0, 0, 0, 0));

            Map<String, Alarms.Condition> found = checks.check(Instant.now());
            assertThat(found).containsOnlyKeys("disk_low", "store_unhealthy", "limit_near/max-sessions");
            assertThat(found.get("limit_near/max-sessions"))
                    .isEqualTo(new Alarms.Condition(Alarm.Severity.WARNING, "4 of limits.max-sessions 5 are in use"));
            assertThat(Objects.requireNonNull(found.get("store_unhealthy")).severity())
                    .isEqualTo(Alarm.Severity.CRITICAL);
        }
    }

    @Test
    void overloadIsAnAlarmADetailAndAMeter() {
        try (ObservedBroker broker =
                broker(AlarmConfig.defaults(), LimitsConfig.builder().build())) {
            BrokerMeters meters = meters(directory);
            AlarmChecks checks = new AlarmChecks(broker.core(), meters, List.of());
            Health health = new Health(meters.store(), meters.backends(), meters.overload());
            assertThat(health.ready().checks()).containsEntry("overload", "none");

            meters.overloadChanged(1, "86 % of the heap for old objects are in use");
            assertThat(checks.check(Instant.now()))
                    .containsEntry(
                            "overload",
                            new Alarms.Condition(
                                    Alarm.Severity.WARNING, "level 1: 86 % of the heap for old objects are in use"));
            meters.overloadChanged(2, "an event loop is 300 ms behind");
            assertThat(checks.check(Instant.now()))
                    .containsEntry(
                            "overload",
                            new Alarms.Condition(Alarm.Severity.CRITICAL, "level 2: an event loop is 300 ms behind"));
            meters.overloadChanged(1, ""); // falls
            assertThat(health.ready().checks()).containsEntry("overload", "level 1: an event loop is 300 ms behind");
            meters.overloadChanged(0, "");
            assertThat(checks.check(Instant.now())).isEmpty();
        }
    }

    @Test
    void connectionsThatHaveEndedAreNotNearTheLimit() {
        LimitsConfig limits = LimitsConfig.builder().maxConnections(5).build();
        try (ObservedBroker broker = broker(AlarmConfig.defaults(), limits)) {
            BrokerMeters meters = meters(directory);
            AlarmChecks checks = new AlarmChecks(broker.core(), meters, List.of());
            for (int i = 0; i < 100; i++) {
                meters.connections().opened("tcp");
                meters.connections().closed("tcp", ReasonCode.SUCCESS);
            }
            assertThat(checks.check(Instant.now())).isEmpty();

            for (int i = 0; i < 4; i++) {
                meters.connections().opened("tcp");
            }
            assertThat(checks.check(Instant.now())).containsOnlyKeys("limit_near/max-connections");
        }
    }

    @Test
    void anAlarmIsPublishedAndSentUntilTheWebhookTakesIt() throws Exception {
        List<String> bodies = new CopyOnWriteArrayList<>();
        List<String> tokens = new CopyOnWriteArrayList<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            tokens.add(exchange.getRequestHeaders().getFirst("Authorization"));
            bodies.add(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
            exchange.sendResponseHeaders(bodies.size() == 1 ? 500 : 204, -1);
            exchange.close();
        });
        server.start();
        AlarmConfig config = AlarmConfig.defaults().toBuilder()
                .webhook("http://127.0.0.1:" + server.getAddress().getPort() + "/alarms")
                .webhookToken("secret")
                .build();
        try (ObservedBroker broker = broker(config, LimitsConfig.builder().build())) {
            BrokerModule.Core core = broker.core();
            BrokerMeters meters = meters(directory);
            AlarmWatch watch = new AlarmWatch(core, meters, List.of(), new StatusPublisher(core));
            meters.store().measured(new StoreFigures(false, 0, 0, 0, 0));
            watch.update();
            watch.update();

            await().atMost(PATIENCE).until(() -> bodies.size() == 2);
            assertThat(bodies.get(1)).isEqualTo(bodies.get(0));
            assertThat(tokens).containsExactly("Bearer secret", "Bearer secret");
            JsonNode sent = JSON.readTree(bodies.get(0));
            assertThat(sent.path("name").asText()).isEqualTo("store_unhealthy");
            assertThat(sent.path("severity").asText()).isEqualTo("critical");
            assertThat(sent.path("until").isNull()).isTrue();
            assertThat(Instant.parse(sent.path("since").asText()))
                    .isEqualTo(watch.snapshot().get(0).since());
            TopicName topic = TopicName.of("$SYS/broker/alarms/store_unhealthy");
            await().atMost(PATIENCE).until(() -> core.router().retained().get(topic) != null);
            ApplicationMessage retained =
                    Objects.requireNonNull(core.router().retained().get(topic));
            assertThat(retained.payload().asString()).isEqualTo(bodies.get(0));
            watch.stop();
        } finally {
            server.stop(0);
        }
    }

    @Test
    void aCertificateThatEndsSoonIsAnAlarm() throws Exception {
        Path file = directory.resolve("server.pem");
        Instant notAfter = Instant.now().plus(Duration.ofDays(5)).truncatedTo(ChronoUnit.SECONDS);
        X509Bundle bundle = new CertificateBuilder()
                .ecp256()
                .subject("CN=localhost")
                .setIsCertificateAuthority(true)
                .notAfter(notAfter)
                .buildSelfSigned();
        Files.writeString(file, bundle.getCertificatePathPEM());
        Path key = directory.resolve("server.key");
        try (ObservedBroker broker = new ObservedBroker(
                config -> config, management -> management.tls(new ManagementTlsConfig(file, key)))) {
            AlarmChecks checks = new AlarmChecks(broker.core(), meters(directory), List.of());

            assertThat(checks.check(Instant.now()))
                    .containsExactly(Map.entry(
                            "certificate_expires/management",
                            new Alarms.Condition(
                                    Alarm.Severity.WARNING,
                                    "management.tls.certificate, " + file + ", expires at " + notAfter)));
            assertThat(checks.check(Instant.now().minus(Duration.ofDays(10)))).isEmpty();
            assertThat(checks.check(notAfter).values())
                    .extracting(Alarms.Condition::severity)
                    .containsExactly(Alarm.Severity.CRITICAL);
        }
    }

    @Test
    void nodesThatCannotBeReachedAreAlarms() {
        ClusterStatus.Node self = new ClusterStatus.Node("a", 1, "127.0.0.1:7000", "", 0, 0);
        ClusterStatus.Node other = new ClusterStatus.Node("b", 1, "127.0.0.1:7001", "", 0, 0);
        ClusterStatus status = new ClusterStatus(
                ClusterStatus.State.JOINED,
                self,
                2,
                List.of(new ClusterStatus.PeerStatus(other, false, 0, 9_000, 0, 0, 0, Map.of())),
                NOTHING,
                ClusterStatus.Wills.NONE,
                ClusterStatus.Retained.NONE,
                Map.of());
        try (ObservedBroker broker = ObservedBroker.in(status)) {
            AlarmChecks checks = new AlarmChecks(broker.core(), meters(directory), List.of());

            assertThat(checks.check(Instant.now()))
                    .containsEntry(
                            "peer_gone/b",
                            new Alarms.Condition(Alarm.Severity.WARNING, "node b at 127.0.0.1:7001 cannot be reached"))
                    .containsKey("too_few_members")
                    .hasSize(2);
        }
    }

    @Test
    void frontNodesDoNotCountAsNodes() {
        ClusterStatus status = aroundFronts(front("a", true), 2);
        try (ObservedBroker broker = ObservedBroker.in(status)) {
            AlarmChecks checks = new AlarmChecks(broker.core(), meters(directory), List.of());

            assertThat(checks.check(Instant.now()))
                    .containsExactly(Map.entry(
                            "too_few_members",
                            new Alarms.Condition(
                                    Alarm.Severity.CRITICAL,
                                    "1 nodes can be reached, front nodes not counted, and cluster.min-members is 2")));
        }
    }

    @Test
    void aFrontNodeWithoutANodeForItsClientsSaysSo() {
        ClusterStatus status = aroundFronts(front("a", true), 0);
        assertThat(status.isReady()).isTrue();
        ClusterStatus alone = new ClusterStatus(
                status.state(),
                front("self", true),
                0,
                List.of(new ClusterStatus.PeerStatus(front("a", true), true, 0, 0, 0, 0, 0, Map.of())),
                NOTHING,
                ClusterStatus.Wills.NONE,
                ClusterStatus.Retained.NONE,
                Map.of());
        assertThat(alone.isReady()).isFalse();
        assertThat(alone.fullNodes()).isZero();
        try (ObservedBroker broker = ObservedBroker.in(alone)) {
            AlarmChecks checks = new AlarmChecks(broker.core(), meters(directory), List.of());

            assertThat(checks.check(Instant.now())).containsOnlyKeys("no_keeper");
            assertThat(broker.module.ready().checks()).containsEntry("cluster", "no node takes stored sessions");
        }
    }

    /** A full node that reaches a front node, and another one no longer. */
    private static ClusterStatus aroundFronts(ClusterStatus.Node reached, int minMembers) {
        return new ClusterStatus(
                ClusterStatus.State.JOINED,
                front("self", false),
                minMembers,
                List.of(
                        new ClusterStatus.PeerStatus(reached, true, 0, 0, 0, 0, 0, Map.of()),
                        new ClusterStatus.PeerStatus(front("gone", true), false, 0, 9_000, 0, 0, 0, Map.of())),
                NOTHING,
                ClusterStatus.Wills.NONE,
                ClusterStatus.Retained.NONE,
                Map.of());
    }

    private static ClusterStatus.Node front(String nodeId, boolean front) {
        return new ClusterStatus.Node(nodeId, 1, "127.0.0.1:7000", "", 0, 0, front, "");
    }
}
