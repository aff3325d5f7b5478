// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Keeps {@code docs/conformance.md} true; {@code -Dsmqtt.conformance.write=true} writes it anew. */
final class ConformanceDocumentTest {

    private static final String WRITE = "smqtt.conformance.write";
    private static final Path ROOT = projectRoot();
    private static final Path DOCUMENT = ROOT.resolve("docs/conformance.md");

    private static ConformanceReport report;

    @BeforeAll
    static void readRegisterAndSources() throws IOException {
        StatementRegister register = StatementRegister.read(ROOT.resolve("docs/conformance"));
        report = new ConformanceReport(register, SourceTags.in(ROOT));
    }

    @Test
    void registerHoldsEveryNumberedStatement() {
        assertThat(report.statements())
                .filteredOn(statement -> statement.standard() == Standard.V5)
                .hasSize(251);
        assertThat(report.statements())
                .filteredOn(statement -> statement.standard() == Standard.V311)
                .hasSize(141);
    }

    @Test
    void documentIsUpToDate() throws IOException {
        String expected = ConformanceDocument.render(report, Files.readString(DOCUMENT));
        if (Boolean.getBoolean(WRITE)) {
            Files.writeString(DOCUMENT, expected);
        }

        assertThat(Files.readString(DOCUMENT))
                .as("docs/conformance.md; write it anew with -D%s=true", WRITE)
                .isEqualTo(expected);
    }

    @Test
    void everyTagInTheSourcesNamesAStatement() {
        assertThat(report.unknownTags()).isEmpty();
    }

    @Test
    void everyStatementThatBindsTheServerHasATestOrAReason() {
        assertThat(report.open()).isEmpty();
    }

    @Test
    void noProvedStatementClaimsToBeUntestable() {
        assertThat(report.contradictions()).isEmpty();
    }

    private static Path projectRoot() {
        Path directory = Path.of("").toAbsolutePath();
        while (directory != null && !Files.isRegularFile(directory.resolve("docs/conformance/mqtt-5.0.tsv"))) {
            directory = directory.getParent();
        }
        if (directory == null) {
            throw new IllegalStateException("docs/conformance is not above the working directory");
        }
        return directory;
    }
}
