// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class OverviewTest {

    private static final long SECOND = 1_000_000_000L;

    private static final String BEFORE = """
            # HELP smqtt_messages_received_total messages
            # TYPE smqtt_messages_received_total counter
            smqtt_messages_received_total{qos="0"} 1000.0
            smqtt_messages_received_total{qos="1"} 10.0
            smqtt_messages_dropped_total{reason="offline"} 5.0
            smqtt_messages_dropped_total{reason="queue_count"} 0.0
            smqtt_delivery_time_seconds_count 10
            smqtt_delivery_time_seconds_sum 1.0
            smqtt_eventloop_cpu_seconds_total{loop="0"} 1.0
            """;

    private static final String NOW = """
            smqtt_clients_online{listener="tcp",protocol="5.0"} 3.0
            smqtt_clients_online{listener="ws",protocol="5.0"} 1200.0
            smqtt_messages_received_total{qos="0"} 3000.0
            smqtt_messages_received_total{qos="1"} 30.0
            smqtt_messages_dropped_total{reason="offline"} 5.0
            smqtt_messages_dropped_total{reason="queue_count"} 50.0
            smqtt_delivery_time_seconds_count 20
            smqtt_delivery_time_seconds_sum 1.02
            smqtt_eventloop_cpu_seconds_total{loop="0"} 2.5
            smqtt_eventloop_lag_seconds{loop="0"} 1.2E-4
            process_uptime_seconds 93784.1
            jvm_memory_used_bytes{area="heap",id="Eden Space"} 1048576
            jvm_memory_used_bytes{area="nonheap",id="Metaspace"} 999
            jvm_memory_max_bytes{area="heap",id="Eden Space"} -1
            jvm_memory_max_bytes{area="heap",id="Tenured Gen"} 2.097152E6
            """;

    private final Scrape before = Scrape.parse(BEFORE, 0);
    private final Scrape now = Scrape.parse(NOW, 2 * SECOND);

    @Test
    void ratesAreDifferencesPerSecond() {
        assertThat(now.rate(before, "smqtt_messages_received_total")).isEqualTo(1_010);
        assertThat(now.rates(before, "smqtt_messages_received_total", "qos"))
                .isEqualTo(Map.of("0", 1_000.0, "1", 10.0));
        assertThat(now.mean(before, "smqtt_delivery_time_seconds")).isEqualTo(0.002, within());
        assertThat(now.mean(now, "smqtt_delivery_time_seconds")).isNaN();
    }

    private static org.assertj.core.data.Offset<Double> within() {
        return org.assertj.core.api.Assertions.within(1e-9);
    }

    @Test
    void aBrokerThatWasStartedAgainHasNoNegativeRates() {
        assertThat(before.rate(now, "smqtt_messages_received_total")).isZero();
        assertThat(Scrape.parse(BEFORE, 3 * SECOND).rate(now, "smqtt_messages_received_total"))
                .isZero();
    }

    @Test
    void namesThatBeginAlikeAndLinesThatAreNoFiguresCountNothing() {
        Scrape scrape = Scrape.parse("a 1\na_b 2\na{x=\"y\"} 4\n<html> nothing\n\n", 0);

        assertThat(scrape.sum("a")).isEqualTo(5);
        assertThat(scrape.sum("a", "x=\"y\"")).isEqualTo(4);
        assertThat(scrape.has("a_b")).isTrue();
        assertThat(scrape.has("<html>")).isFalse();
    }

    @Test
    void theScreenShowsWhatHappensNow() {
        String screen = Overview.of(before, now).text("http://b:1");

        assertThat(screen)
                .contains("smqtt at http://b:1, up 1d 02:03:04")
                .contains("heap 1.0 MiB of 2.0 MiB")
                .contains("1,203 online")
                .containsPattern("received +1,010 +3,030 +1,000 / 10")
                .containsPattern("dropped +25 +55 +queue_count 25/s\n")
                .contains("delivery 2.0 ms   routing -")
                .containsPattern("event loop +0 +75 % busy +120 µs late")
                .doesNotContain("store", "cluster");
        assertThat(screen.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(120));
    }

    @Test
    void storeAndClusterShowWhereTheyAre() {
        Scrape more = Scrape.parse(NOW + """
                smqtt_store_healthy 0.0
                smqtt_store_disk_bytes 5000
                smqtt_cluster_members 2.0
                smqtt_cluster_members_known 3.0
                """, 2 * SECOND);

        assertThat(Overview.of(before, more).text("b")).contains("FAILING", "4.9 KiB on disk", "2 of 3 nodes");
    }
}
