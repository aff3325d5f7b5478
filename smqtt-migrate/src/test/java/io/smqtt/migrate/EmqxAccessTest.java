// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the chain of EMQX allows is not more after its migration, or reported. */
class EmqxAccessTest {

    private static final String ASKED_BEFORE =
            "NOT ENFORCED; access.chain: the rules of this source are asked before those of the HTTP server";

    @TempDir
    Path directory;

    @Test
    void twoRulesThatAnAclFileCannotSayAreCompared() throws IOException {
        Files.writeString(directory.resolve("acl.conf"), """
                {allow, all, {publish, [{qos, 1}]}, ["a"]}.
                {deny, all, {publish, [{qos, 2}]}, ["b"]}.
                {allow, all}.
                """);

        assertThat(read("mqtt.max_qos_allowed = 1").notes())
                .anyMatch(note -> note.startsWith("acl.conf:1: not migrated; an ACL file cannot say this rule"))
                .anyMatch(
                        note -> note.startsWith("acl.conf:2: NOT ENFORCED; an ACL file cannot say this denying rule"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "x_attribute = a | user",
                "publish_attribute = a |",
                "subscribe_attribute = a |",
                "all_attribute = a |",
                "acl_rule_attribute = a |"
            })
    void aDirectoryWithoutRulesIsAskedAboutUsersOnly(String key, String checks) throws IOException {
        Migration migration = read("authentication = { mechanism = password_based, backend = ldap, server = h, "
                + "base_dn = \"uid=${username},ou=x\", " + key + " }");

        assertThat(migration.settings("new"))
                .containsEntry("access.backends.ldap.type", "ldap")
                .satisfies(settings ->
                        assertThat(settings.get("access.backends.ldap.checks")).isEqualTo(checks));
    }

    @Test
    void rulesThatAreAskedBeforeAnHttpServerInsteadOfAfterItAreReported() throws IOException {
        String http = "{ type = http, url = \"http://127.0.0.1:1/acl\" }";
        String sql = "{ type = mysql, server = db, database = mqtt, query = \"SELECT 1\" }";
        String ldap = "{ type = ldap, server = h, base_dn = \"uid=${username},ou=x\" }";
        String off = "{ type = http, url = \"http://127.0.0.1:1/acl\", enable = false }";

        assertThat(read("authorization.sources = [" + http + ", " + sql + ", " + ldap + "]")
                        .notes())
                .filteredOn(note -> note.contains(ASKED_BEFORE))
                .hasSize(2)
                .anyMatch(note -> note.startsWith("f.conf:1: authorization.sources[1]."))
                .anyMatch(note -> note.startsWith("f.conf:1: authorization.sources[2]."));
        assertThat(read("authorization.sources = [" + sql + ", " + ldap + ", " + http + ", " + http + "]")
                        .notes())
                .noneMatch(note -> note.contains(ASKED_BEFORE));
        assertThat(read("authorization.sources = [" + off + ", " + sql + "]").notes())
                .noneMatch(note -> note.contains(ASKED_BEFORE));
    }

    /** The lines of a statement become one, so that the rest of it would be part of the comment. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "mysql | SELECT a # one # FROM t WHERE n = ${username} | false",
                "mysql | SELECT a FROM t WHERE n = ${username} AND k = 'it\\'s' # '  | false",
                "mysql | SELECT a FROM t WHERE n = ${username} AND `#` = '#' | true",
                "mysql | SELECT a -- one # FROM t WHERE n = ${username} | false",
                "postgresql | SELECT a #>> '{b}' FROM t WHERE n = ${username} | true"
            })
    void statementsWithCommentsAreLeftOut(String kind, String statement, boolean migrated) throws IOException {
        String text = statement.replaceFirst("one #", "one\n");
        Migration migration = read("authentication = { mechanism = password_based, backend = " + kind
                + ", server = db, database = mqtt, query = \"\"\"" + text + "\"\"\" }");

        assertThat(migration.settings("new").containsKey("access.backends." + kind + ".query"))
                .isEqualTo(migrated);
        assertThat(migration.notes().stream()
                        .anyMatch(note -> note.contains("its query has a question mark, a comment")))
                .isNotEqualTo(migrated);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "authentication = { mechanism = password_based, backend = http, url = \"http://127.0.0.1:1/\"",
                "authentication = { mechanism = jwt, secret = \"a secret of at least 32 characters\"",
                "authentication = { mechanism = password_based, backend = ldap, server = h, base_dn = \"uid=${username}\"",
                "authentication = { mechanism = password_based, backend = mysql, server = h, database = d, query = \"SELECT 1\"",
            })
    void aConditionOfABackendIsReported(String entry) throws IOException {
        assertThat(read(entry + ", precondition = \"str_eq(username, 'a')\" }").notes())
                .anyMatch(note -> note.startsWith(
                        "f.conf:1: authentication.precondition: NOT ENFORCED; the backend is asked about all clients"));
    }

    private Migration read(String text) throws IOException {
        Path file = Files.writeString(directory.resolve("f.conf"), text);
        return Migration.read(file, "f.conf", OldBroker.emqx);
    }
}
