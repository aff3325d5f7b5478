// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.ban;

import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.JsonFields;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.FileProblem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The bans of a file, which are read-only at the port: one JSON object for each line, with the fields of the API. A line may be empty, or a
 * comment after {@code #}. Immutable.
 *
 * @param bans the bans by identifier
 * @param sources file and line of each ban, by identifier
 */
record BanFile(Map<String, Ban> bans, Map<String, String> sources) {

    /** No file. */
    static final BanFile NONE = new BanFile(Map.of(), Map.of());

    private static final long MAXIMUM_BYTES = 8 << 20;
    private static final int MAX_PROBLEMS = 20;
    private static final String MAKER = "file";
    private static final Set<String> FIELDS = Set.of("as", "who", "by", "reason", "at", "until");

    /**
     * Reads a file. Blocks.
     *
     * @throws ConfigurationException if the file cannot be used, with file and line of each problem
     */
    static BanFile read(Path file) {
        Map<String, Ban> bans = new LinkedHashMap<>();
        Map<String, String> sources = new LinkedHashMap<>();
        List<String> problems = new ArrayList<>();
        try {
            if (Files.size(file) > MAXIMUM_BYTES) {
                throw new ConfigurationException(file + ": is larger than 8 MiB; is this the right file?");
            }
            Instant changed = Files.getLastModifiedTime(file).toInstant().truncatedTo(ChronoUnit.SECONDS);
            int number = 0;
            for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
                number++;
                if (line.isBlank() || line.startsWith("#")) {
                    continue;
                }
                String source = file + ":" + number;
                try {
                    Ban ban = ban(line, changed);
                    String before = sources.putIfAbsent(ban.id(), source);
                    if (before != null) {
                        throw new InvalidFieldException("the ban is already in " + before);
                    }
                    bans.put(ban.id(), ban);
                } catch (IllegalArgumentException e) {
                    problems.add(source + ": " + e.getMessage());
                }
            }
        } catch (IOException e) {
            throw new ConfigurationException(file + ": the file " + FileProblem.reason(file, e));
        }
        checkLimits(file, bans, problems);
        if (!problems.isEmpty()) {
            throw new ConfigurationException(
                    problems.stream().limit(MAX_PROBLEMS).toList());
        }
        return new BanFile(Map.copyOf(bans), Map.copyOf(sources));
    }

    private static Ban ban(String line, Instant changed) {
        JsonFields fields;
        try {
            fields = JsonFields.parse(line);
        } catch (InvalidFieldException e) {
            throw new InvalidFieldException(
                    "the line is not one JSON object such as {\"as\":\"clientid\",\"who\":\"pump-7\"}");
        }
        fields.node().fieldNames().forEachRemaining(name -> {
            if (!FIELDS.contains(name)) {
                throw new InvalidFieldException("a ban has only the fields as, who, by, reason, at and until");
            }
        });
        return BanFormat.read(fields, MAKER, changed);
    }

    private static void checkLimits(Path file, Map<String, Ban> bans, List<String> problems) {
        int most = BanPart.LIMITS.count();
        if (bans.size() > most) {
            problems.add(file + ": there are at most " + most + " bans");
        }
        try {
            BanPart.checkPatterns(Map.of(), bans);
        } catch (IllegalArgumentException e) {
            problems.add(file + ": " + e.getMessage());
        }
    }

    /**
     * Reads a file again. Blocks.
     *
     * @throws ConfigurationException if the file cannot be used, or has no bytes any more although it had bans
     */
    BanFile again(Path file) {
        BanFile fresh = read(file);
        try {
            if (!bans.isEmpty() && Files.size(file) == 0) {
                throw new ConfigurationException(
                        file + ": is empty now; is it truncated? For no bans, leave one line with a # in it");
            }
        } catch (IOException e) {
            throw new ConfigurationException(file + ": the file " + FileProblem.reason(file, e));
        }
        return fresh;
    }
}
