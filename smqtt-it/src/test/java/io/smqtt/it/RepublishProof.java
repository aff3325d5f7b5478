// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sink {@code republish} of the real program, which is killed: what subscribers with stored sessions get. */
class RepublishProof {

    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final String OUT = "out/";

    @TempDir
    Path directory;

    /** There is no other server. */
    private static final class NoServer implements SinkCampaign.Server {

        @Override
        public void kill() {
            throw new AssertionError("smqtt.sink.server-kills must be 0");
        }

        @Override
        public void start() {
            throw new AssertionError("smqtt.sink.server-kills must be 0");
        }
    }

    @Test
    void nothingIsLostWhileTheBrokerIsKilled() throws Exception {
        Path configuration = configuration();
        try (SinkCampaign campaign = new SinkCampaign(
                () -> BrokerProcess.start(Extensions.command("smqtt-sink-redis", directory, configuration)),
                new NoServer())) {
            List<JournalSubscriber> subscribers = SinkCampaign.topics().stream()
                    .map(topic -> new JournalSubscriber(topic, OUT + topic, 1, campaign.where()))
                    .toList();
            subscribers.forEach(Thread::start);
            await().atMost(PATIENCE).until(() -> subscribers.stream().allMatch(JournalSubscriber::isSubscribed));

            campaign.run();

            await().atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(500))
                    .until(() -> SinkCampaign.distinct(numbers(subscribers)) == campaign.published());
            subscribers.forEach(subscriber ->
                    assertThat(subscriber.failure()).as(subscriber.topic()).isNull());
            int redelivered =
                    subscribers.stream().mapToInt(JournalClient::resumed).sum() * JournalClient.WINDOW;
            campaign.assertArrived("republish", numbers(subscribers), redelivered);
            subscribers.forEach(JournalClient::finish);
        }
    }

    private static Map<String, List<Integer>> numbers(List<JournalSubscriber> subscribers) {
        Map<String, List<Integer>> numbers = new TreeMap<>();
        subscribers.forEach(
                subscriber -> numbers.put(subscriber.topic().substring(OUT.length()), subscriber.received()));
        return numbers;
    }

    private Path configuration() throws IOException {
        return SinkCampaign.configuration(
                directory, "SELECT topic, payload AS n FROM \"" + SinkCampaign.FILTER + '"', """
                type: republish
                topic: %s${topic}
                payload: ${n}
                qos: 1
                """.formatted(OUT));
    }
}
