// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** All normative statements of both versions, in the order of their files. */
final class StatementRegister {

    private static final String HEADER = "tag\tbinds\tstatement\treason";
    private static final String TAG_START = "MQTT-";

    private final Map<String, Statement> statements = new LinkedHashMap<>();

    private StatementRegister() {}

    /** Reads {@code mqtt-<version>.tsv} of each version from the directory. */
    static StatementRegister read(Path directory) throws IOException {
        StatementRegister register = new StatementRegister();
        for (Standard standard : Standard.values()) {
            Path file = directory.resolve("mqtt-" + standard.version() + ".tsv");
            register.add(standard, Files.readAllLines(file), file);
        }
        return register;
    }

    private void add(Standard standard, List<String> lines, Path file) {
        if (lines.isEmpty() || !lines.get(0).equals(HEADER)) {
            throw new IllegalArgumentException(file + ": the first line must be the header " + HEADER);
        }
        String section = "";
        for (int i = 1; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.startsWith("# ")) {
                section = line.substring(2);
            } else {
                add(parse(standard, section, line, file + ":" + (i + 1)));
            }
        }
    }

    private static Statement parse(Standard standard, String section, String line, String place) {
        String[] columns = line.split("\t", -1);
        if (columns.length != 4 || !columns[0].startsWith(TAG_START)) {
            throw new IllegalArgumentException(place + ": expected four columns that begin with a tag");
        }
        String number = columns[0].substring(TAG_START.length());
        if (!number.startsWith(section.substring(0, section.indexOf(' ')))) {
            throw new IllegalArgumentException(place + ": " + columns[0] + " is not part of section " + section);
        }
        return new Statement(standard, section, number, Binding.parse(columns[1]), columns[2], columns[3]);
    }

    private void add(Statement statement) {
        String key = statement.standard().sourceTag(statement.number());
        if (statements.putIfAbsent(key, statement) != null) {
            throw new IllegalArgumentException(
                    statement.tag() + " occurs twice in " + statement.standard().version());
        }
    }

    /** All statements in the order of the files. */
    Collection<Statement> all() {
        return statements.values();
    }

    /** The statement a source tag such as {@code MQTT311-3.1.2-24} names. */
    Optional<Statement> find(String sourceTag) {
        return Optional.ofNullable(statements.get(sourceTag));
    }
}
