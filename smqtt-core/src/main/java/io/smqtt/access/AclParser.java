// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.StringTokenizer;

/** Parses the lines of an ACL file. */
final class AclParser {

    private final RuleSet anonymous = new RuleSet();
    private final RuleSet patterns = new RuleSet();
    private final Map<String, RuleSet> users = new HashMap<>();
    private final Map<String, RuleSet> roles = new HashMap<>();

    private int rules;
    private RuleSet section = anonymous;
    private boolean inRole;
    private List<AddressRange> addresses = List.of();

    private AclParser() {}

    static AclFile read(Path file) {
        TextFile.Content content = TextFile.read(file);
        AclParser parser = new AclParser();
        TextFile.parse(file, content.lines(), parser::parse);
        List<String> warnings = parser.rules > 0
                ? List.of()
                : List.of(file + ": contains no rule, so clients may neither publish nor subscribe");
        return new AclFile(content.shape(), parser.anonymous, parser.users, parser.roles, parser.patterns, warnings);
    }

    private void parse(String line) {
        String text = line.strip();
        if (!text.isEmpty() && text.charAt(0) != '#') {
            parseLine(text);
        }
    }

    private void parseLine(String line) {
        int end = wordEnd(line);
        String word = line.substring(0, end);
        String rest = line.substring(end).strip();
        switch (word) {
            case "user" -> begin(users, rest, false);
            case "role" -> begin(roles, rest, true);
            case "address" -> addresses = parseAddresses(rest);
            case "topic" -> parseRule(section, rest, false);
            case "pattern" -> parseRule(inRole ? section : patterns, rest, true);
            default ->
                throw error("begins with "
                        + (word.matches("[a-z]{1,16}") ? TextFile.quote(word) : "an unknown word")
                        + "; expected topic, pattern, user, role, address or a # comment");
        }
    }

    private void begin(Map<String, RuleSet> sections, String name, boolean role) {
        if (name.isEmpty()) {
            throw error("has no name after " + (role ? "role" : "user"));
        }
        section = sections.computeIfAbsent(name, key -> new RuleSet());
        inRole = role;
        addresses = List.of();
    }

    private List<AddressRange> parseAddresses(String text) {
        if (text.equals("any")) {
            return List.of();
        }
        List<AddressRange> ranges = new ArrayList<>();
        StringTokenizer tokens = new StringTokenizer(text);
        while (tokens.hasMoreTokens()) {
            String token = tokens.nextToken();
            AddressRange range = AddressRange.parse(token);
            if (range == null) {
                throw error(TextFile.quote(token)
                        + " is not a network; write 10.0.0.0/8, 2001:db8::/32 or 127.0.0.1, for example");
            }
            ranges.add(range);
        }
        if (ranges.isEmpty()) {
            throw error("has no network after address; write 10.0.0.0/8, for example, or any");
        }
        return ranges;
    }

    /** Parses {@code [deny] [read|write|readwrite] filter}; a keyword at the end of the line is the filter itself. */
    private void parseRule(RuleSet target, String text, boolean substitution) {
        String rest = text;
        boolean deny = isAccess(rest, "deny");
        if (deny) {
            rest = afterWord(rest);
        }
        boolean read = true;
        boolean write = true;
        if (isAccess(rest, "read") || isAccess(rest, "write") || isAccess(rest, "readwrite")) {
            read = rest.startsWith("read");
            write = !isAccess(rest, "read");
            rest = afterWord(rest);
        } else if (!deny && wordEnd(rest) < rest.length()) {
            throw error("has the access " + TextFile.quote(rest.substring(0, wordEnd(rest)))
                    + "; expected read, write, readwrite or deny");
        }
        target.add(new AclRule(filter(rest, substitution), addresses), deny, read, write);
        rules++;
    }

    private RuleFilter filter(String text, boolean substitution) {
        if (SharedFilter.isShared(text)) {
            throw error("names a shared subscription; write the filter without $share/name/, it applies to both");
        }
        try {
            return RuleFilter.compile(TopicFilter.of(text).value(), substitution);
        } catch (InvalidTopicException e) {
            throw error("has no valid topic filter: " + e.getMessage());
        }
    }

    private static boolean isAccess(String text, String word) {
        return text.startsWith(word) && text.length() > word.length() && isBlank(text.charAt(word.length()));
    }

    private static String afterWord(String text) {
        return text.substring(wordEnd(text)).strip();
    }

    private static int wordEnd(String text) {
        int end = 0;
        while (end < text.length() && !isBlank(text.charAt(end))) {
            end++;
        }
        return end;
    }

    private static boolean isBlank(char c) {
        return c == ' ' || c == '\t';
    }

    private static IllegalArgumentException error(String problem) {
        return new IllegalArgumentException(problem);
    }
}
