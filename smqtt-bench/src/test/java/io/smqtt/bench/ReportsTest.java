// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReportsTest {

    private final LoadResult result = Results.sample("a \"b\" <c>");

    @Test
    void tableTellsRatesFaultsLatencyAndTheBrokersShare() {
        assertThat(SummaryTable.of(result).lines())
                .contains(
                        "clients                           20 asked for, 20 connected",
                        "published                         1000, 100.0/s while measured",
                        "lost / duplicated / out of order  1 / 2 / 0",
                        "broker CPU                        2.00 s while measured, 2000.00 us per delivered message",
                        "broker memory                     3.0 MiB resident")
                .anyMatch(line -> line.matches("latency p50 / p90 / p99 +500ms / 90\\dms / 99\\dms"));
    }

    @Test
    void jsonHasTheFiguresAndQuotesNames() {
        assertThat(JsonReport.of(result, List.of("--max-loss 0: 1")))
                .startsWith("{\"run\":\"a \\\"b\\\" <c>\",\"target\":\"mqtt://h:1\"")
                .contains("\"lost\":1,\"duplicated\":2,\"out_of_order\":0")
                .contains("\"us_per_delivered\":2000.000")
                .contains("\"published_per_second\":110.250")
                .contains("\"broken_limits\":[\"--max-loss 0: 1\"]")
                .endsWith("}\n");
    }

    @Test
    void csvHasALinePerSample() {
        assertThat(CsvReport.of(result).lines())
                .containsExactly(
                        "seconds,connected,published_per_second,delivered_per_second,p50_us,p99_us,max_us",
                        "1.000,20,90.0,80.0,500.0,900.0,1000.0",
                        "2.000,20,110.3,100.0,500.0,900.0,1000.0");
    }

    @Test
    void pageStandsAloneAndItsPlotsAreWellFormed() throws Exception {
        String page = HtmlReport.of(result, List.of("--max-loss 0: 1 messages were lost"));

        assertThat(page)
                .contains("a \"b\" &lt;c&gt;", "--max-loss 0: 1 messages were lost")
                .doesNotContain("<script", "src=", "href=");
        String[] plots = page.split("<svg", -1);
        assertThat(plots).as("throughput, latency, distribution").hasSize(4);
        for (int i = 1; i < plots.length; i++) {
            String svg = "<svg" + plots[i].substring(0, plots[i].indexOf("</svg>")) + "</svg>";
            DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
            assertThat(svg).contains("<polyline").doesNotContain("NaN", "Infinity");
        }
    }

    @Test
    void brokenLimitsAreNamed() {
        Limits all = new Limits(Duration.ofMillis(20), Duration.ofMillis(5), 0L, 1L, 500.0);

        assertThat(all.brokenBy(result))
                .satisfiesExactly(
                        p99 -> assertThat(p99).startsWith("--max-p99 20ms: the latency is 99"),
                        p999 -> assertThat(p999).startsWith("--max-p999 5ms: the latency is "),
                        loss -> assertThat(loss).isEqualTo("--max-loss 0: 1 messages were lost"),
                        twice -> assertThat(twice).isEqualTo("--max-duplicates 1: 2 messages were duplicated"),
                        rate -> assertThat(rate).isEqualTo("--min-rate 500: 100 deliveries/s"));
        assertThat(new Limits(Duration.ofSeconds(2), null, 1L, 2L, 99.0).brokenBy(result))
                .isEmpty();
        assertThat(new Limits(null, null, null, null, null).brokenBy(result)).isEmpty();
    }

    @Test
    void progressIsWrittenOverOnATerminalOnly() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ProgressLine terminal = new ProgressLine(new PrintStream(bytes, true, StandardCharsets.UTF_8), true);
        terminal.connecting(100, 2000);
        terminal.connecting(5, 7);
        terminal.end();
        assertThat(bytes.toString(StandardCharsets.UTF_8))
                .isEqualTo("\rconnected 100 of 2000\rconnected 5 of 7     \r                \r");

        bytes.reset();
        ProgressLine file = new ProgressLine(new PrintStream(bytes, true, StandardCharsets.UTF_8), false);
        file.sample(result.samples().get(0));
        file.end();
        assertThat(bytes.toString(StandardCharsets.UTF_8))
                .isEqualToNormalizingNewlines(
                        "  1.0 s  20 connected  90/s published  80/s delivered" + "  p50 0.500 ms  p99 0.900 ms\n");
    }

    @ParameterizedTest
    @CsvSource({"250us, 250000", "20ms, 20000000", "1.5s, 1500000000", "2m, 120000000000", "3, 3000000000"})
    void durationsAreReadAsPeopleWriteThem(String text, long nanos) {
        assertThat(DurationText.parse(text)).isEqualTo(Duration.ofNanos(nanos));
    }

    @Test
    void nonsenseIsNoDuration() {
        for (String text : List.of("", "ms", "5x", "-1s", "1.2.3s", "1e9h", "99999999999999h")) {
            assertThatThrownBy(() -> DurationText.parse(text))
                    .as(text)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("is no duration");
        }
    }

    @Test
    void processFiguresAreReadBehindANameWithBlanksAndBrackets() {
        String stat = "42 (a) b (c) S 1 1 1 0 -1 0 0 0 0 0 250 150 0 0 20 0 1 0 0";

        assertThat(ProcessUse.parse(stat, "Name:\tx\nVmRSS:\t    2048 kB\n")).isEqualTo(new ProcessUse(4, 2 << 20));
        assertThatThrownBy(() -> ProcessUse.of(Long.MAX_VALUE)).isInstanceOf(LoadFailure.class);
    }

    @Test
    void tooManyConnectionsForTheDescriptorLimitSayWhatToDo() {
        assertThat(DescriptorLimit.parse(
                        "Limit  Soft\nMax open files            1024                 4096     files\n"))
                .isEqualTo(1024);
        DescriptorLimit.require(896, 1024);
        assertThatThrownBy(() -> DescriptorLimit.require(897, 1024))
                .isInstanceOf(WrongUsage.class)
                .hasMessageContaining("ulimit -n 1025")
                .hasMessageContaining("at most 896 clients");
    }

    @Test
    void businessBecomesConnectionsAndRates() {
        BusinessSizing sizing = new BusinessSizing(40_000, 0.5, 18, 2, 10, 1, 3);

        assertThat(sizing.connections()).isEqualTo(20_010);
        assertThat(sizing.meanUp()).isEqualTo(400);
        assertThat(sizing.peakUp()).isEqualTo(1200);
        assertThat(sizing.rows()).containsEntry("devices publish", "400.0/s on the mean, 1200.0/s at peak");
        BusinessSizing tenth = sizing.scaled(0.1);
        assertThat(tenth.connections()).isEqualTo(2001);
        assertThat(tenth.peakUp()).isEqualTo(120);
        for (int connections : new int[] {2, 100, 19_872, 20_009, 20_010}) {
            assertThat(sizing.scaled(sizing.scaleFor(connections)).connections())
                    .isLessThanOrEqualTo(connections);
        }
        assertThat(sizing.scaleFor(30_000)).isEqualTo(1);
        assertThat(sizing.scaleFor(19_872)).isBetween(0.99, 0.9935);
        assertThat(sizing.scaleFor(1)).isZero();
    }
}
