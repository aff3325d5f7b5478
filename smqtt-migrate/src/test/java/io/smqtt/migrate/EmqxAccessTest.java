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
                "authentication = { mechanism = password_based, backend = redis, server = h, cmd = \"HGET ${username} password\"",
            })
    void aConditionOfABackendIsReported(String entry) throws IOException {
        assertThat(read(entry + ", precondition = \"str_eq(username, 'a')\" }").notes())
                .anyMatch(note -> note.startsWith(
                        "f.conf:1: authentication.precondition: NOT ENFORCED; the backend is asked about all clients"));
    }

    @Test
    void usersAndRulesInRedisAreTwoBackends() throws IOException {
        Migration migration = read("""
                authentication = [{
                  mechanism = password_based
                  backend = redis
                  redis_type = sentinel
                  servers = "a:26379, b:26380"
                  sentinel = main
                  sentinel_username = watcher
                  sentinel_password = "w4tch"
                  username = smqtt
                  password = "s3cret"
                  database = 3
                  cmd = "HMGET mqtt_user:${username} password_hash salt is_superuser"
                  password_hash_algorithm { name = sha512, salt_position = suffix }
                  pool_size = 16
                  ssl { enable = true, verify = verify_peer, cacertfile = "/etc/ca.pem" }
                }]
                authorization.sources = [{
                  type = redis
                  redis_type = cluster
                  servers = "c:7000,d:7001"
                  username = smqtt
                  cmd = "hgetall mqtt_acl:${clientid}"
                }]
                """);

        assertThat(migration.settings("new"))
                .containsEntry("access.chain", "redis,redis-acl")
                .containsEntry("access.backends.redis.type", "redis")
                .containsEntry("access.backends.redis.checks", "user")
                .containsEntry("access.backends.redis.mode", "sentinel")
                .containsEntry("access.backends.redis.url", "rediss://a:26379,rediss://b:26380")
                .containsEntry("access.backends.redis.sentinel-master", "main")
                .containsEntry("access.backends.redis.sentinel-username", "watcher")
                .containsEntry("access.backends.redis.sentinel-password-file", "new.redis.sentinel.password")
                .containsEntry("access.backends.redis.username", "smqtt")
                .containsEntry("access.backends.redis.password-file", "new.redis.password")
                .containsEntry("access.backends.redis.database", "3")
                .containsEntry(
                        "access.backends.redis.cmd", "HMGET mqtt_user:${username} password_hash salt is_superuser")
                .containsEntry("access.backends.redis.hash.name", "sha512")
                .containsEntry("access.backends.redis.hash.salt-position", "suffix")
                .containsEntry("access.backends.redis.max-concurrent", "16")
                .containsEntry("access.backends.redis.ca", "/etc/ca.pem")
                .containsEntry("access.backends.redis-acl.type", "redis")
                .containsEntry("access.backends.redis-acl.checks", "acl")
                .containsEntry("access.backends.redis-acl.mode", "cluster")
                .containsEntry("access.backends.redis-acl.url", "redis://c:7000,redis://d:7001")
                .containsEntry("access.backends.redis-acl.acl.cmd", "hgetall mqtt_acl:${clientid}")
                .doesNotContainKeys(
                        "access.backends.redis-acl.cmd",
                        "access.backends.redis-acl.username",
                        "access.backends.redis-acl.database");
        assertThat(migration.notes())
                .anyMatch(note -> note.startsWith("f.conf:5: authentication[0].servers: differs; ")
                        && note.contains("an extension, lib/ext/redis"))
                .anyMatch(note -> note.contains(".username: not migrated; it has no password"))
                .noneMatch(note -> note.contains("s3cret") || note.contains("w4tch"));
    }

    /** The backend would refuse the start with another command, or without an address. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "server = h | HMGET u:${username} password_hash | true",
                "server = h | hget u:${username} password | true",
                "server = h | HMGET u:${username} salt password_hash | true",
                "server = h | HMGET u:${username} salt | false",
                "server = h | HMGET u:${username} | false",
                "server = h | HMGET u:${username} password_hash mail | false",
                "server = h | HMGET users password_hash | false",
                "server = h | HGETALL u:${username} | false",
                "server = h | GET u:${username} | false",
                "server = h | HMGET u:${user} password_hash | false",
                "server = h | HMGET 'u ${username}' password_hash | false",
                "server = ~h:x~ | HMGET u:${username} password_hash | false",
                "server = ~a,b~ | HMGET u:${username} password_hash | false",
                "database = 1 | HMGET u:${username} password_hash | false",
                "server = h, redis_type = sentinel | HMGET u:${username} password_hash | false",
                "server = h, redis_type = ring | HMGET u:${username} password_hash | false"
            })
    void usersThatCannotBeReadFromRedisAreLeftOut(String server, String command, boolean migrated) throws IOException {
        Migration migration = read("authentication = { mechanism = password_based, backend = redis, "
                + server.replace("~", "\"") + ", cmd = \"" + command + "\" }");

        assertThat(migration.settings("new").containsKey("access.backends.redis.cmd"))
                .isEqualTo(migrated);
        assertThat(migration.settings("new")).containsEntry("access.allow-anonymous", "false");
    }

    @ParameterizedTest
    @CsvSource({
        "HGETALL a:${username}, true",
        "HMGET a:${username} t/1 t/${clientid}, true",
        "HGETALL a:${username} t, false",
        "HGETALL rules, false",
        "SMEMBERS a:${username}, false"
    })
    void rulesThatCannotBeReadFromRedisAreLeftOut(String command, boolean migrated) throws IOException {
        Migration migration = read("authorization.sources = [{ type = redis, server = h, cmd = \"" + command + "\" }]");

        assertThat(migration.settings("new").containsKey("access.backends.redis-acl.acl.cmd"))
                .isEqualTo(migrated);
    }

    private Migration read(String text) throws IOException {
        Path file = Files.writeString(directory.resolve("f.conf"), text);
        return Migration.read(file, "f.conf", OldBroker.emqx);
    }
}
