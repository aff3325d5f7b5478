// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.conformance;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Renders the report as {@code docs/conformance.md}. */
final class ConformanceDocument {

    private static final String INTRODUCTION = """
            # Conformance to MQTT 3.1.1 and 5.0

            Every numbered normative statement of the two OASIS standards, what it asks (in our own words; the standards'
            text decides), and the test that proves it here or the reason why there is none.

            This file is generated, all but the section [Outside suites](#outside-suites): edit `docs/conformance/mqtt-*.tsv` or
            the tests, then run

                mvn -pl smqtt-it -am test -Dtest=ConformanceDocumentTest -Dsurefire.failIfNoSpecifiedTests=false \\
                    -Dsmqtt.conformance.write=true

            A test proves a statement by naming it in a comment, in its body or directly above it: `[MQTT-3.1.2-24]` for
            MQTT 5.0, `[MQTT311-3.1.2-24]` for MQTT 3.1.1 (the numbers differ between the versions). Code names the
            statement a line obeys in the same way. The build fails when this file is not up to date, when a source names
            a statement that does not exist, or when a statement that binds the server is open.

            """;

    /** What stands between the generated parts, and is written by hand. */
    private static final String BY_HAND = "\n## Outside suites\n";

    private static final String AFTER_IT = "\n## MQTT 5.0\n";

    private final ConformanceReport report;
    private final StringBuilder text = new StringBuilder();

    private ConformanceDocument(ConformanceReport report) {
        this.report = report;
    }

    /**
     * The whole document, with {@code \n} at line ends.
     *
     * @param present the document as it is, of which the section that is written by hand stays
     */
    static String render(ConformanceReport report, String present) {
        return new ConformanceDocument(report).render(byHand(present));
    }

    private static String byHand(String present) {
        int start = present.indexOf(BY_HAND);
        int end = present.indexOf(AFTER_IT, Math.max(0, start));
        return start < 0 || end < 0 ? "" : present.substring(start, end);
    }

    private String render(String byHand) {
        text.append(INTRODUCTION);
        summary();
        text.append(byHand);
        for (Standard standard : Standard.values()) {
            version(standard);
        }
        return text.toString();
    }

    private void summary() {
        text.append("## Summary\n\n");
        text.append("| | statements | bind the server | proved by a test | with a reason | open |\n");
        text.append("|---|--:|--:|--:|--:|--:|\n");
        for (Standard standard : Standard.values()) {
            Predicate<Statement> asks = s -> s.binding().asksTheServer();
            summaryRow(
                    "MQTT " + standard.version(),
                    count(standard, s -> true),
                    count(standard, asks),
                    count(standard, asks.and(s -> !report.proofs(s).isEmpty())),
                    count(standard, asks.and(s -> !s.reason().isEmpty())),
                    count(standard, report::isOpen));
        }
    }

    private void summaryRow(String version, long... figures) {
        text.append("| ").append(version);
        for (long figure : figures) {
            text.append(" | ").append(figure);
        }
        text.append(" |\n");
    }

    private long count(Standard standard, Predicate<Statement> which) {
        return of(standard).stream().filter(which).count();
    }

    private List<Statement> of(Standard standard) {
        return report.statements().stream()
                .filter(s -> s.standard() == standard)
                .toList();
    }

    private void version(Standard standard) {
        text.append("\n## MQTT ").append(standard.version()).append('\n');
        String section = "";
        for (Statement statement : of(standard)) {
            if (!statement.section().equals(section)) {
                section = statement.section();
                text.append("\n### ").append(section).append("\n\n");
                text.append("| tag | binds | what it asks | proof |\n|---|---|---|---|\n");
            }
            row(statement);
        }
    }

    private void row(Statement statement) {
        text.append("| ").append(statement.tag());
        text.append(" | ").append(statement.binding().label());
        text.append(" | ").append(statement.asks().replace("|", "\\|"));
        text.append(" | ").append(proof(statement).replace("|", "\\|")).append(" |\n");
    }

    private String proof(Statement statement) {
        if (report.isOpen(statement)) {
            return "**open**";
        }
        if (report.proofs(statement).isEmpty()) {
            return "no test: " + statement.reason();
        }
        return report.proofs(statement).stream().collect(Collectors.joining("`<br>`", "`", "`"));
    }
}
