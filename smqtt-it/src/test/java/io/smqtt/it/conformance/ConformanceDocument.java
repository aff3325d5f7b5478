// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.conformance;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Renders the report as {@code docs/conformance.md}. */
final class ConformanceDocument {

    private static final String INTRODUCTION = """
            # Conformance to MQTT 3.1.1 and 5.0

            Every numbered normative statement of the two OASIS standards, with the test that proves it or the reason why there is no test. The
            statements are paraphrased; the text of the standards is authoritative.

            - [Summary](#summary)
            - [Outside suites](#outside-suites): results of public test suites
            - Statements of [MQTT 5.0](#mqtt-50) and [MQTT 3.1.1](#mqtt-311)
            - [About this page](#about-this-page): how it is generated and checked

            """;

    private static final String END = """

            ## About this page

            Generated, except the section [Outside suites](#outside-suites). To change it, edit `docs/conformance/mqtt-*.tsv` or the tests. Then run

                mvn -pl smqtt-it -am test -Dtest=ConformanceDocumentTest -Dsurefire.failIfNoSpecifiedTests=false \\
                    -Dsmqtt.conformance.write=true

            - A test proves a statement by its tag in a comment, in the test's body or directly above it: `[MQTT-3.1.2-24]` for MQTT 5.0,
              `[MQTT311-3.1.2-24]` for MQTT 3.1.1. The numbers differ between the versions. Code has the same tags.
            - The build fails if this page is not up to date, if a source has a tag that does not exist, or if a statement that binds the
              server is open.
            """;

    /** The beginning of the section that is written by hand, between the generated parts. */
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
     * @param present the existing document, whose section that is written by hand is kept
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
        text.append(END);
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
                text.append("| tag | binds | requirement | proof |\n|---|---|---|---|\n");
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
