// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicFilter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The users and access rules of the former smqtt, also those in files that its configuration names. */
final class SmqttAccess {

    private static final Pattern NETWORK = Pattern.compile("ip\\{[0-9a-fA-F:.]{2,45}(/[0-9]{1,3})?}");

    private final OldFile file;
    private final SmqttKeys keys;
    private final Draft draft;

    /**
     * Creates it for one file.
     *
     * @param file the configuration
     * @param keys its keys
     * @param draft what is written
     */
    SmqttAccess(OldFile file, SmqttKeys keys, Draft draft) {
        this.file = file;
        this.keys = keys;
        this.draft = draft;
    }

    /** Writes users and rules. */
    void write() {
        users();
        rules();
    }

    private void users() {
        OldSetting user =
                keys.kept("tcp.username") == null ? keys.kept("auth.fixed.username") : keys.kept("tcp.username");
        OldSetting password =
                keys.kept("tcp.password") == null ? keys.kept("auth.fixed.password") : keys.kept("tcp.password");
        OldSetting users = keys.kept("auth.file");
        boolean elsewhere = keys.hasSeen("auth.http.") || keys.hasSeen("auth.sql.");
        if (user != null && password != null) {
            draft.user(user.value(), password.value());
            draft.set("access.allow-anonymous", "false", user);
        } else if (user != null || password != null) {
            OldSetting half = user == null ? password : user;
            draft.problem(Objects.requireNonNull(half), "needs both user name and password");
        }
        if (users != null) {
            draft.set("access.allow-anonymous", "false", users);
            readUsers(users);
        }
        if (elsewhere) {
            draft.byDefault("access.allow-anonymous", "false", "another system decided who may connect");
        }
        if (!draft.has("access.allow-anonymous")) {
            draft.byDefault("access.allow-anonymous", "true", "there is no user in " + file.shownAs());
            draft.note(
                    file.shownAs(),
                    Outcome.DIFFERENT,
                    "access.allow-anonymous: there is no user, so all clients may connect, as before; by default only "
                            + "clients on this machine may");
        }
    }

    /** Lines of client identifier, user name and password, separated by commas. */
    private void readUsers(OldSetting setting) {
        for (Row row : rows(setting)) {
            if (row.cells().size() < 3) {
                draft.problem(new OldSetting("", "", row.where()), "needs client identifier, user name and password");
            } else if (draft.hasUser(row.cells().get(1))) {
                draft.note(row.where(), Outcome.NONE, "the user exists already; a user has one password");
            } else {
                draft.user(row.cells().get(1), row.cells().get(2));
            }
        }
    }

    private void rules() {
        OldSetting policy = keys.kept("acl.aclPolicy");
        OldSetting path = keys.kept("acl.filePath");
        boolean stored = keys.hasSeen("acl.jdbcaclconfig.")
                || (policy != null && policy.value().equalsIgnoreCase("jdbc"));
        if (policy != null && policy.value().equalsIgnoreCase("none")) {
            return;
        }
        if (path != null) {
            draft.rule("# from " + path.value().replaceAll("\\p{Cntrl}", " "));
            rows(path).forEach(this::rule);
        } else if (stored) {
            draft.rule("# the rules were in a database; without rules everything is denied");
            draft.note(
                    String.valueOf(policy == null ? file.shownAs() : policy.toString()),
                    Outcome.DIFFERENT,
                    "access.acl-file: the rules of the database are not read; everything is denied until access.acl-file has rules");
        }
    }

    /** {@code p, subject, topic, PUBLISH|SUBSCRIBE|ALL|CONNECT[, allow|deny]}: everything without a row is denied, in both brokers. */
    private void rule(Row row) {
        List<String> cells = row.cells();
        if (cells.size() < 4 || !cells.get(0).equals("p")) {
            draft.note(row.where(), Outcome.NONE, "is not a rule of the form p, subject, topic, action");
            return;
        }
        boolean deny = cells.size() > 4 && cells.get(4).equalsIgnoreCase("deny");
        String subject = cells.get(1);
        String access = switch (cells.get(3).toUpperCase(Locale.ROOT)) {
            case "PUBLISH" -> "write";
            case "SUBSCRIBE" -> "read";
            case "ALL" -> "readwrite";
            default -> "";
        };
        String network = network(subject);
        if (access.isEmpty() || !isFilter(cells.get(2)) || (network == null && !subject.equalsIgnoreCase("all"))) {
            draft.note(
                    row.where(),
                    deny ? Outcome.UNGUARDED : Outcome.NONE,
                    "write it below the user in the file of access.acl-file, which has rules for users and networks, not for client "
                            + "identifiers, on topics to publish and subscribe");
            return;
        }
        draft.rule("address " + (network == null ? "any" : network));
        draft.rule("pattern " + (deny ? "deny " : "") + access + " " + cells.get(2));
    }

    private static @Nullable String network(String subject) {
        return NETWORK.matcher(subject).matches() ? subject.substring(3, subject.length() - 1) : null;
    }

    private static boolean isFilter(String topic) {
        try {
            TopicFilter.of(topic);
            return topic.indexOf('\n') < 0;
        } catch (InvalidTopicException e) {
            return false;
        }
    }

    /** A line of a CSV file. */
    private record Row(List<String> cells, String where) {}

    private List<Row> rows(OldSetting setting) {
        OldFile csv = OldFile.read(Path.of(draft.path(setting)), setting.value());
        List<Row> rows = new ArrayList<>();
        int line = 0;
        for (String text : csv.text().lines().toList()) {
            line++;
            if (!text.isBlank() && text.strip().charAt(0) != '#') {
                rows.add(new Row(Stream.of(text.split(",")).map(String::strip).toList(), csv.where(line)));
            }
        }
        return rows;
    }
}
