// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GoAuthTest {

    @TempDir
    Path directory;

    @Test
    void optionsBecomeAChain() throws IOException {
        Migration migration = read(
                "auth_plugin /mosquitto/go-auth.so",
                "auth_opt_backends files, http, mongo, jwt",
                "auth_opt_check_prefix true",
                "auth_opt_prefixes f, web, pg, token",
                "auth_opt_files_password_path /etc/mosquitto/passwords",
                "auth_opt_files_acl_path acls",
                "auth_opt_http_host users.example",
                "auth_opt_http_port 8443",
                "auth_opt_http_with_tls true",
                "auth_opt_http_verify_peer false",
                "auth_opt_http_getuser_uri /user",
                "auth_opt_http_superuser_uri /super",
                "auth_opt_http_aclcheck_uri /acl",
                "auth_opt_http_params_mode form",
                "auth_opt_http_response_mode text",
                "auth_opt_http_timeout 3",
                "auth_opt_http_register user, acl",
                "auth_opt_cache true",
                "auth_opt_auth_cache_seconds 30",
                "auth_opt_acl_cache_seconds 20",
                "auth_opt_mongo_host localhost",
                "auth_opt_mongo_password s3cret",
                "auth_opt_jwt_mode files",
                "auth_opt_jwt_secret a s3cret of at least 32 characters",
                "auth_opt_made_up 1");

        assertThat(migration.settings("new"))
                .containsEntry("access.chain", "password-file,http,jwt")
                .containsEntry("access.password-file", "new.passwd")
                .containsEntry("access.acl-file", directory.resolve("acls").toString())
                .containsEntry("access.allow-anonymous", "false")
                .containsEntry("access.backends.http.type", "http")
                .containsEntry("access.backends.http.style", "go-auth")
                .containsEntry("access.backends.http.url", "https://users.example:8443")
                .containsEntry("access.backends.http.getuser-uri", "/user")
                .containsEntry("access.backends.http.aclcheck-uri", "/acl")
                .containsEntry("access.backends.http.params-mode", "form")
                .containsEntry("access.backends.http.response-mode", "text")
                .containsEntry("access.backends.http.timeout", "3s")
                .containsEntry("access.backends.http.checks", "user,acl")
                .containsEntry("access.backends.http.user-prefix", "web_")
                .containsEntry("access.backends.http.cache-ttl", "20s")
                .containsEntry("access.backends.jwt.from", "username")
                .containsEntry("access.backends.jwt.secret-file", "new.jwt.secret")
                .doesNotContainKey("access.backends.http.superuser-uri");
        assertThat(migration.notes())
                .anyMatch(note -> note.startsWith("m.conf:2: auth_opt_backends: not migrated; left out: mongo"))
                .anyMatch(note -> note.startsWith("m.conf:10: auth_opt_http_verify_peer: differs"))
                .anyMatch(note -> note.startsWith("m.conf:21: auth_opt_mongo_host: not migrated"))
                .anyMatch(
                        note -> note.startsWith("m.conf:25: auth_opt_made_up: not migrated; it is not a known option"))
                .noneMatch(note -> note.contains("s3cret"))
                .noneMatch(note -> note.contains("when embedded"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"auth_opt_jwt_mode remote", "auth_opt_jwt_mode local", "auth_opt_jwt_secret short"})
    void tokensThatCannotBeCheckedAreRefused(String line) throws IOException {
        Migration migration = read(
                "auth_opt_backends jwt",
                "auth_opt_jwt_mode files",
                "auth_opt_jwt_secret a s3cret of at least 32 characters",
                line);

        assertThat(migration.settings("new")).containsEntry("access.allow-anonymous", "false");
        assertThat(migration.settings("new").keySet()).noneMatch(key -> key.startsWith("access.backends"));
        assertThat(migration.notes())
                .anyMatch(note -> note.contains("access.backends.jwt: needs jwt_mode files, and jwt_secret"))
                .anyMatch(note -> note.contains("left out: jwt"));
        migration.writeAccessFiles(directory, "new", false);
        assertThat(directory.resolve("new.acl")).content().contains("without rules everything is denied");
        assertThat(directory.resolve("new.jwt.secret")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"http", "jwt", "postgres", "mysql", "redis"})
    void backendsThatDecideAboutSuperusersOnlyAreLeftOut(String backend) throws IOException {
        Migration migration = read(
                "auth_opt_backends files, " + backend,
                "auth_opt_" + backend + "_register superuser",
                "auth_opt_http_getuser_uri /user",
                "auth_opt_http_superuser_uri /super",
                "auth_opt_jwt_mode files",
                "auth_opt_jwt_secret a s3cret of at least 32 characters",
                "auth_opt_redis_password s3cret",
                "auth_opt_pg_dbname mqtt",
                "auth_opt_pg_password s3cret",
                "auth_opt_pg_userquery select pw from users where name = $1",
                "auth_opt_mysql_dbname mqtt",
                "auth_opt_mysql_password s3cret",
                "auth_opt_mysql_userquery select pw from users where name = ?");

        assertThat(migration.settings("new").keySet())
                .noneMatch(key -> key.startsWith("access.backends." + backend + ".") || key.equals("access.chain"));
        assertThat(migration.settings("new")).containsEntry("access.password-file", "new.passwd");
        assertThat(migration.notes())
                .anyMatch(note -> note.startsWith("m.conf:2: auth_opt_" + backend + "_register: not migrated; "))
                .anyMatch(note -> note.contains("left out: " + backend));
        migration.writeAccessFiles(directory, "new", false);
        assertThat(directory.resolve("new." + backend + ".secret")).doesNotExist();
        assertThat(directory.resolve("new." + backend + ".password")).doesNotExist();
    }

    @Test
    void aDirectoryChecksUsers() throws IOException {
        Migration migration = read(
                "auth_opt_backends ldap",
                "auth_opt_ldap_url ldaps://dc.example:636",
                "auth_opt_ldap_user_dn ou=people,dc=example,dc=org",
                "auth_opt_ldap_group_dn ou=groups,dc=example,dc=org",
                "auth_opt_ldap_bind_dn cn=smqtt,dc=example,dc=org",
                "auth_opt_ldap_bind_password s3cret",
                "auth_opt_ldap_user_filter (&(uid=%s)(memberOf=cn=mqtt,ou=groups,dc=example,dc=org))",
                "auth_opt_ldap_superuser_filter (&(uid=%s)(memberOf=cn=root,ou=groups,dc=example,dc=org))",
                "auth_opt_ldap_acl_topic_pattern_attribute topics",
                "auth_opt_ldap_register user, acl");

        assertThat(migration.settings("new"))
                .containsEntry("access.chain", "ldap")
                .containsEntry("access.allow-anonymous", "false")
                .containsEntry("access.backends.ldap.type", "ldap")
                .containsEntry("access.backends.ldap.url", "ldaps://dc.example:636")
                .containsEntry("access.backends.ldap.base-dn", "ou=people,dc=example,dc=org")
                .containsEntry("access.backends.ldap.bind-dn", "cn=smqtt,dc=example,dc=org")
                .containsEntry("access.backends.ldap.bind-password-file", "new.ldap.password")
                .containsEntry(
                        "access.backends.ldap.filter",
                        "(&(uid=${username})(memberOf=cn=mqtt,ou=groups,dc=example,dc=org))")
                .containsEntry("access.backends.ldap.checks", "user");
        assertThat(migration.notes())
                .anyMatch(note -> note.startsWith("m.conf:8: auth_opt_ldap_superuser_filter: differs"))
                .anyMatch(note -> note.startsWith("m.conf:9: auth_opt_ldap_acl_topic_pattern_attribute: not migrated"))
                .anyMatch(note -> note.startsWith("m.conf:10: auth_opt_ldap_register: differs"))
                .anyMatch(note -> note.contains("lib/ext/ldap"))
                .noneMatch(note -> note.contains("s3cret") || note.contains("no such backend"));
        migration.writeAccessFiles(directory, "new", false);
        assertThat(directory.resolve("new.ldap.password")).hasContent("s3cret");
        assertThat(directory.resolve("new.acl")).content().contains("without rules everything is denied");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "auth_opt_ldap_user_filter (uid=ann); must have %s for the user name, once",
                "auth_opt_ldap_user_filter (|(uid=%s)(cn=%s)); must have %s for the user name, once",
                "auth_opt_ldap_user_dn; needs auth_opt_ldap_user_dn",
                "auth_opt_ldap_url ldapi:///run/ldap; must be ldap://HOST:PORT or ldaps://HOST:PORT",
                "auth_opt_ldap_url ldap://h/ou=x?uid; must be ldap://HOST:PORT or ldaps://HOST:PORT",
                "auth_opt_ldap_register acl; left out: ldap",
            })
    void aDirectoryThatCannotBeWrittenIsLeftOut(String line, String expected) throws IOException {
        List<String> lines = new ArrayList<>(List.of(
                "auth_opt_backends ldap",
                "auth_opt_ldap_user_dn ou=people,dc=example,dc=org",
                "auth_opt_ldap_bind_dn cn=smqtt,dc=example,dc=org",
                "auth_opt_ldap_bind_password s3cret",
                "auth_opt_ldap_user_filter (uid=%s)"));
        lines.removeIf(other -> other.startsWith(line.split(" ", 2)[0] + " "));
        if (line.contains(" ")) {
            lines.add(line);
        }
        Migration migration = read(lines.toArray(String[]::new));

        assertThat(migration.settings("new").keySet()).noneMatch(key -> key.startsWith("access.backends"));
        assertThat(migration.settings("new")).containsEntry("access.allow-anonymous", "false");
        assertThat(migration.notes())
                .anyMatch(note -> note.contains(expected))
                .noneMatch(note -> note.contains("s3cret"));
        migration.writeAccessFiles(directory, "new", false);
        assertThat(directory.resolve("new.ldap.password")).doesNotExist();
    }

    @Test
    void statementsOfThePluginAreKept() throws IOException {
        Migration migration = read(
                "auth_opt_backends postgres, mysql",
                "auth_opt_pg_host db",
                "auth_opt_pg_dbname mqtt",
                "auth_opt_pg_user m",
                "auth_opt_pg_password s3cret",
                "auth_opt_pg_sslmode verify-full",
                "auth_opt_pg_userquery select pw from users where name = $1",
                "auth_opt_pg_superquery select count(*) from users where name = $1",
                "auth_opt_pg_aclquery select topic from acls where name = $1 and rw >= $2",
                "auth_opt_postgres_register user, acl");

        assertThat(migration.settings("new"))
                .containsEntry("access.chain", "postgres")
                .containsEntry("access.backends.postgres.type", "sql")
                .containsEntry("access.backends.postgres.style", "go-auth")
                .containsEntry("access.backends.postgres.url", "jdbc:postgresql://db:5432/mqtt?sslmode=verify-full")
                .containsEntry("access.backends.postgres.username", "m")
                .containsEntry("access.backends.postgres.password-file", "new.postgres.password")
                .containsEntry("access.backends.postgres.userquery", "select pw from users where name = $1")
                .doesNotContainKey("access.backends.postgres.superquery");
        assertThat(migration.notes())
                .anyMatch(note -> note.contains("access.backends.mysql.url: needs host, port, dbname"))
                .anyMatch(note -> note.contains("left out: mysql"));
    }

    @Test
    void keysInRedisAreReadWhereTheyAre() throws IOException {
        Migration migration = read(
                "auth_opt_backends redis",
                "auth_opt_redis_host cache",
                "auth_opt_redis_port 6390",
                "auth_opt_redis_db 5",
                "auth_opt_redis_password s3cret",
                "auth_opt_redis_disable_superuser true");

        assertThat(migration.settings("new"))
                .containsEntry("access.chain", "redis")
                .containsEntry("access.backends.redis.type", "redis")
                .containsEntry("access.backends.redis.style", "go-auth")
                .containsEntry("access.backends.redis.url", "redis://cache:6390")
                .containsEntry("access.backends.redis.database", "5")
                .containsEntry("access.backends.redis.password-file", "new.redis.password")
                .containsEntry("access.backends.redis.superusers", "false")
                .doesNotContainKeys("access.backends.redis.mode", "access.acl-file");
        assertThat(migration.notes())
                .containsExactly(
                        "m.conf:1: auth_opt_backends: differs; access.backends.redis.type: an extension, lib/ext/redis");
        migration.writeAccessFiles(directory, "new", false);
        assertThat(directory.resolve("new.redis.password")).hasContent("s3cret");
    }

    @Test
    void aClusterOfRedisHasItsAddresses() throws IOException {
        Migration migration = read(
                "auth_opt_backends redis",
                "auth_opt_redis_mode cluster",
                "auth_opt_redis_db 5",
                "auth_opt_redis_cluster_addresses a:7000, b:7001",
                "auth_opt_redis_register user, acl");

        assertThat(migration.settings("new"))
                .containsEntry("access.backends.redis.mode", "cluster")
                .containsEntry("access.backends.redis.url", "redis://a:7000,redis://b:7001")
                .containsEntry("access.backends.redis.checks", "user,acl")
                .containsEntry("access.backends.redis.superusers", "false")
                .doesNotContainKey("access.backends.redis.database");
    }

    @Test
    void aClusterOfRedisWithoutAddressesIsLeftOut() throws IOException {
        Migration migration = read("auth_opt_backends redis", "auth_opt_redis_mode cluster");

        assertThat(migration.settings("new").keySet()).noneMatch(key -> key.startsWith("access.backends"));
        assertThat(migration.notes()).anyMatch(note -> note.contains("left out: redis"));
    }

    @Test
    void theSaltOfAHashIsReadAsThePluginHasIt() throws IOException {
        Migration migration = read(
                "auth_opt_backends redis, postgres",
                "auth_opt_hasher pbkdf2",
                "auth_opt_hasher_salt_encoding utf-8",
                "auth_opt_pg_dbname mqtt",
                "auth_opt_pg_userquery select pw from users where name = $1",
                "auth_opt_pg_hasher pbkdf2",
                "auth_opt_pg_hasher_salt_encoding base64");

        assertThat(migration.settings("new"))
                .containsEntry("access.backends.redis.hash.salt-encoding", "utf-8")
                .doesNotContainKey("access.backends.postgres.hash.salt-encoding");
        assertThat(migration.notes())
                .anyMatch(
                        note -> note.startsWith("m.conf:2: auth_opt_hasher: not migrated; a stored hash says its kind"))
                .noneMatch(note -> note.contains("salt_encoding"));
    }

    /** In the plugin no backend decides about topics then, and nothing is allowed. */
    @ParameterizedTest
    @ValueSource(strings = {"http", "postgres", "redis"})
    void topicsThatNoBackendIsRegisteredForAreDenied(String backend) throws IOException {
        Migration migration = read(
                "auth_opt_backends " + backend,
                "auth_opt_" + backend + "_register user",
                "auth_opt_http_getuser_uri /user",
                "auth_opt_http_aclcheck_uri /acl",
                "auth_opt_pg_dbname mqtt",
                "auth_opt_pg_userquery select pw from users where name = $1",
                "auth_opt_pg_aclquery select topic from acls where name = $1 and rw >= $2");

        assertThat(migration.settings("new"))
                .containsEntry("access.backends." + backend + ".checks", "user")
                .containsEntry("access.acl-file", "new.acl");
        migration.writeAccessFiles(directory, "new", false);
        assertThat(directory.resolve("new.acl")).content().contains("without rules everything is denied");
    }

    @Test
    void optionsOfTheNewerFormAreTheSame() throws IOException {
        assertThat(read("plugin /x/go-auth.so", "plugin_opt_backends http", "plugin_opt_http_host 127.0.0.1")
                        .settings("new"))
                .containsEntry("access.chain", "http")
                .containsEntry("access.backends.http.url", "http://127.0.0.1");
    }

    private Migration read(String... lines) throws IOException {
        Path file = Files.writeString(directory.resolve("m.conf"), String.join("\n", lines) + "\n");
        return Migration.read(file, "m.conf", OldBroker.mosquitto);
    }
}
