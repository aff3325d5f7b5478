// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.conformance;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/** The register joined with the tests that name its statements, and what is wrong with the two together. */
final class ConformanceReport {

    private final StatementRegister register;
    private final Map<Statement, SortedSet<String>> proofs = new LinkedHashMap<>();
    private final List<String> unknownTags = new ArrayList<>();

    ConformanceReport(StatementRegister register, Collection<SourceTag> tags) {
        this.register = register;
        for (Statement statement : register.all()) {
            proofs.put(statement, new TreeSet<>());
        }
        tags.forEach(this::add);
    }

    private void add(SourceTag tag) {
        Optional<Statement> statement = register.find(tag.tag());
        if (statement.isEmpty()) {
            unknownTags.add(tag.place() + ": [" + tag.tag() + "] names no statement" + hint(tag.tag()));
        } else if (tag.isProof()) {
            proofs.getOrDefault(statement.get(), new TreeSet<>()).add(tag.test());
        }
    }

    private String hint(String tag) {
        int dash = tag.indexOf('-');
        Optional<Standard> written = Standard.ofPrefix(tag.substring(0, dash));
        for (Standard standard : Standard.values()) {
            String other = standard.sourceTag(tag.substring(dash + 1));
            if (!written.equals(Optional.of(standard)) && register.find(other).isPresent()) {
                return "; MQTT " + standard.version() + " has it, written [" + other + "]";
            }
        }
        return "";
    }

    /** Every statement in the order of the register. */
    Collection<Statement> statements() {
        return register.all();
    }

    /** The tests that prove the statement, as {@code Class.method}. */
    SortedSet<String> proofs(Statement statement) {
        return proofs.getOrDefault(statement, new TreeSet<>());
    }

    /** Whether the statement still needs a test. */
    boolean isOpen(Statement statement) {
        return statement.needsTest() && proofs(statement).isEmpty();
    }

    /** Tags in sources that no version of the standard has. */
    List<String> unknownTags() {
        return unknownTags;
    }

    /** Statements that bind the server and have neither test nor reason. */
    List<String> open() {
        return statements().stream()
                .filter(this::isOpen)
                .map(s -> "[" + s.standard().sourceTag(s.number()) + "] " + s.asks())
                .toList();
    }

    /** Statements said to be untestable that a test proves all the same. */
    List<String> contradictions() {
        return statements().stream()
                .filter(s -> s.binding().asksTheServer() && !s.reason().isEmpty())
                .filter(s -> !proofs(s).isEmpty())
                .map(s -> "[" + s.standard().sourceTag(s.number()) + "] has a reason and the test "
                        + proofs(s).first())
                .toList();
    }
}
