// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ConformanceReportTest {

    private static final String HEADER = "tag\tbinds\tstatement\treason\n# 1.1 Things\n";

    @TempDir
    private Path directory;

    @Test
    void aServerStatementWithoutTestOrReasonIsOpen() throws IOException {
        ConformanceReport report = report(List.of());

        assertThat(report.open()).containsExactly("[MQTT-1.1.1-1] first", "[MQTT311-1.1.1-9] old");
        assertThat(ConformanceDocument.render(report, ""))
                .contains("| MQTT-1.1.1-1 | server | first | **open** |")
                .contains("| MQTT-1.1.1-2 | client only | second | no test: cannot see it |")
                .contains("| MQTT 5.0 | 3 | 2 | 0 | 1 | 1 |");
    }

    @Test
    void whatIsWrittenByHandStays() throws IOException {
        ConformanceReport report = report(List.of());
        String generated = ConformanceDocument.render(report, "");
        String present = generated.replace("\n## MQTT 5.0\n", "\n## Outside suites\n\nBy hand.\n\n## MQTT 5.0\n");

        assertThat(ConformanceDocument.render(report, present.replace("| MQTT-1.1.1-1 |", "| old |")))
                .isEqualTo(present)
                .contains("By hand.");
    }

    @Test
    void aTestProvesTheStatementOfItsVersionOnly() throws IOException {
        ConformanceReport report = report(List.of(new SourceTag("MQTT-1.1.1-1", "T.java:1", "T.works")));

        assertThat(report.open()).containsExactly("[MQTT311-1.1.1-9] old");
        assertThat(ConformanceDocument.render(report, "")).contains("| MQTT-1.1.1-1 | server | first | `T.works` |");
    }

    @Test
    void aTagInOrdinaryCodeProvesNothing() throws IOException {
        assertThat(report(List.of(new SourceTag("MQTT-1.1.1-1", "T.java:1", "")))
                        .open())
                .hasSize(2);
    }

    @Test
    void anUnknownTagIsReportedWithTheVersionThatHasIt() throws IOException {
        ConformanceReport report = report(List.of(new SourceTag("MQTT-1.1.1-9", "T.java:7", "T.works")));

        assertThat(report.unknownTags())
                .containsExactly(
                        "T.java:7: [MQTT-1.1.1-9] names no statement; MQTT 3.1.1 has it, written [MQTT311-1.1.1-9]");
    }

    @Test
    void aReasonBesideATestIsAContradiction() throws IOException {
        ConformanceReport report = report(List.of(new SourceTag("MQTT-1.1.1-3", "T.java:1", "T.works")));

        assertThat(report.contradictions()).containsExactly("[MQTT-1.1.1-3] has a reason and the test T.works");
    }

    @Test
    void aRegisterWithARepeatedTagIsRefused() throws IOException {
        write("mqtt-5.0.tsv", HEADER + "MQTT-1.1.1-1\tserver\tfirst\t\nMQTT-1.1.1-1\tserver\tagain\t\n");

        assertThatThrownBy(() -> StatementRegister.read(directory)).hasMessageContaining("occurs twice");
    }

    @Test
    void aClientStatementWithoutReasonIsRefused() throws IOException {
        write("mqtt-5.0.tsv", HEADER + "MQTT-1.1.1-1\tclient-only\tfirst\t\n");

        assertThatThrownBy(() -> StatementRegister.read(directory)).hasMessageContaining("must say why");
    }

    private ConformanceReport report(List<SourceTag> tags) throws IOException {
        write(
                "mqtt-5.0.tsv",
                HEADER
                        + "MQTT-1.1.1-1\tserver\tfirst\t\n"
                        + "MQTT-1.1.1-2\tclient-only\tsecond\tcannot see it\n"
                        + "MQTT-1.1.1-3\tserver\tthird\tnot built\n");
        write("mqtt-3.1.1.tsv", HEADER + "MQTT-1.1.1-9\tserver\told\t\n");
        return new ConformanceReport(StatementRegister.read(directory), tags);
    }

    private void write(String name, String content) throws IOException {
        Files.writeString(directory.resolve(name), content);
    }
}
