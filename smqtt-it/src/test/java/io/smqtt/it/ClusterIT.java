// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three real processes of the program as one broker, some of which end. */
class ClusterIT {

    private static final int NODES = 3;
    private static final Duration PATIENCE = LoopbackCluster.PATIENCE;

    @TempDir
    Path directory;

    private LoopbackCluster nodes;

    @BeforeEach
    void startNodes() throws IOException {
        nodes = LoopbackCluster.start(directory, NODES);
    }

    @AfterEach
    void stopNodes() {
        if (nodes != null) {
            nodes.close();
        }
    }

    private RawClient client(int node, String clientId) {
        return nodes.client(node, clientId);
    }

    @Test
    @Tag("long")
    void aNameIsFreeAgainWhenTheOthersHaveNoticedThatItsNodeIsFrozen() throws Exception {
        signal("STOP", 0);
        try (CapturedProcess second = nodes.namesake(0, LoopbackPorts.one())) {
            second.awaitLine("saying that it started", line -> line.contains("smqtt started in"), PATIENCE);
            await().atMost(PATIENCE).until(() -> nodes.view(1).peer("n0").reachable());
            signal("CONT", 0);

            // one of the two stays, the one that was there first
            second.awaitLine("giving way", line -> line.contains("leaving the cluster;"), PATIENCE);
            try (RawClient subscriber = client(0, "subscriber");
                    RawClient publisher = client(1, "publisher")) {
                await().atMost(PATIENCE).until(() -> nodes.view(1).peer("n0").reachable());
                subscriber.subscribe("thawed/#", 1);
                publishUntilMatched(publisher, "thawed/after");
                drain(subscriber, "thawed/after");
            }
        } finally {
            signal("CONT", 0);
        }
    }

    private void signal(String name, int node) throws IOException, InterruptedException {
        long pid = nodes.broker(node).handle().pid();
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(pid))
                        .start()
                        .waitFor())
                .isZero();
    }

    @Test
    void theCommandShowsTheNodes() {
        try (RawClient subscriber = client(0, "subscriber")) {
            for (int i = 0; i < 5; i++) {
                subscriber.subscribe(i == 0 ? "$share/group/shown/0" : "shown/" + i, 0);
            }
            await().atMost(PATIENCE).untilAsserted(() -> {
                List<String> lines = cluster(1);
                assertThat(lines).anySatisfy(line -> assertThat(line).matches("n1 +joined \\(this\\) .*"));
                assertThat(lines)
                        .anySatisfy(line -> assertThat(line)
                                .matches("n0 +reachable +full +\\S+ +127\\.0\\.0\\.1:" + nodes.port(0)
                                        + " +1 +5 +0 +0 +0 +.* s ago"));
                assertThat(lines)
                        .anySatisfy(line -> assertThat(line).matches("n2 +reachable +.* +1 +0 +0 +0 +0 +.* s ago"));
                assertThat(lines).contains("ready: yes, 3 of 3 nodes together");
                assertThat(lines)
                        .anySatisfy(line -> assertThat(line)
                                .matches("routes: \\d+ pulls, 0 repairs; malformed frames: 0; refused connections: 0"));
            });
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(nodes.metric(0, "smqtt_subscriptions_active")).isEqualTo(5);
                assertThat(nodes.metric(0, "smqtt_subscriptions_groups")).isEqualTo(1);
                assertThat(nodes.metric(1, "smqtt_subscriptions_active"))
                        .as("another node's routes are not counted")
                        .isZero();
                assertThat(nodes.metric(1, "smqtt_subscriptions_groups")).isZero();
            });
        }
        nodes.broker(2).kill9();
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(cluster(1))
                        .anySatisfy(line -> assertThat(line).matches("n2 +gone .*")));
    }

    /** What the command prints that asks a node. */
    private List<String> cluster(int node) {
        String url = "http://127.0.0.1:" + nodes.broker(node).port("management");
        String token = "n" + node + "/data/management.token";
        try (CapturedProcess command =
                BrokerProcess.run(directory, "ctl", "cluster", "--url", url, "--token-file", token)) {
            assertThat(command.awaitExit(PATIENCE)).as(command.report()).isZero();
            return command.output();
        }
    }

    @Test
    void whatWasAcknowledgedReachesAStoredSessionOfANodeThatWasKilled() throws Exception {
        Whereabouts away = new Whereabouts();
        Whereabouts staying = new Whereabouts();
        away.set(nodes.broker(0).address("tcp"));
        staying.set(nodes.broker(1).address("tcp"));
        List<JournalPublisher> publishers =
                List.of(new JournalPublisher("one", 1, staying), new JournalPublisher("two", 2, staying));
        List<JournalSubscriber> subscribers =
                List.of(new JournalSubscriber("one", "one", 1, away), new JournalSubscriber("two", "two", 2, away));
        subscribers.forEach(Thread::start);
        await().atMost(PATIENCE).until(() -> subscribers.stream().allMatch(JournalSubscriber::isSubscribed));
        try (RawClient probe = client(1, "probe")) {
            LoopbackCluster.publishUntilMatched(probe, "one", "0");
            LoopbackCluster.publishUntilMatched(probe, "two", "0");
        }
        publishers.forEach(Thread::start);
        awaitProgress(publishers);
        away.set(null);
        nodes.broker(0).kill9();
        awaitProgress(publishers); // what goes to a node that is gone stops nobody
        for (JournalPublisher publisher : publishers) { // what is parked has a bound
            publisher.lastOne();
            publisher.join(PATIENCE.toMillis());
            ClientFailures.assertNone(publisher, publisher.failure());
        }
        nodes.restart(0);
        away.set(nodes.broker(0).address("tcp"));
        for (int i = 0; i < publishers.size(); i++) {
            int count = publishers.get(i).count();
            JournalSubscriber subscriber = subscribers.get(i);
            await().atMost(PATIENCE).until(() -> subscriber.highest() == count - 1 || subscriber.failure() != null);
            subscriber.finish();
        }
        nodes.broker(0).kill9();
        for (int i = 0; i < publishers.size(); i++) {
            JournalSubscriber subscriber = subscribers.get(i);
            subscriber.join(PATIENCE.toMillis());
            ClientFailures.assertNone(subscriber, subscriber.failure());
            List<Integer> distinct = subscriber.received().stream().distinct().toList();
            assertThat(distinct)
                    .isEqualTo(IntStream.range(0, publishers.get(i).count())
                            .boxed()
                            .toList());
        }
    }

    @Test
    void theWillOfAClientOfANodeThatWasKilledIsSeenOnceOnASurvivor() throws Exception {
        try (RawClient subscriber = client(1, "subscriber");
                RawClient prober = client(2, "prober");
                RawClient watched = RawClient.to(nodes.broker(0).address("tcp"), ProtocolVersion.MQTT_5)) {
            subscriber.subscribe("wills/#", 1);
            publishUntilMatched(prober, "wills/ready");
            drain(subscriber, "wills/ready");
            watched.deadline(PATIENCE);
            watched.connect(ConnectBytes.of("watched")
                    .will(PublishBytes.to("wills/watched").payload("gone").qos(1)));
            watched.subscribe("wills/known", 0);
            publishUntilMatched(prober, "wills/known"); // so the cluster has heard of the client's node since
            drain(subscriber, "wills/known");
            nodes.broker(0).kill9();

            ReceivedPacket will = subscriber.expectPublish("wills/watched", "gone");

            assertThat(will.qos()).isEqualTo(1);
            publishUntilMatched(prober, "wills/last");
            drain(subscriber, "wills/last"); // no second one in between
        }
    }

    private static void awaitProgress(List<JournalPublisher> publishers) {
        for (JournalPublisher publisher : publishers) {
            int before = publisher.acknowledged();
            await().atMost(PATIENCE)
                    .until(() -> publisher.acknowledged() > before + 100 || publisher.failure() != null);
            ClientFailures.assertNone(publisher, publisher.failure());
        }
    }

    private static void publishUntilMatched(RawClient publisher, String topic) {
        LoopbackCluster.publishUntilMatched(publisher, topic, topic);
    }

    private static void drain(RawClient subscriber, String topic) {
        subscriber.expectPublish(topic, topic);
    }
}
