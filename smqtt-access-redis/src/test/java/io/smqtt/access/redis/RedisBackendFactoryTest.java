// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessBackend.Ability;
import io.smqtt.access.backend.AccessBackendFactory;
import io.smqtt.access.backend.BackendSetting;
import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The keys of {@code type: redis}. */
class RedisBackendFactoryTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "cmd | HMGET mqtt_user:${user} password_hash | smqtt.yaml:2: access.backends.store.cmd has the placeholder ${user};",
                "cmd | HMGET mqtt_user:${password} password_hash | cmd has the placeholder ${password} that has no value here",
                "cmd | HMGET users password_hash | cmd has no placeholder in its key",
                "cmd | HMGET mqtt_user:${username} | cmd has the wrong number of fields for HMGET",
                "cmd | HGET mqtt_user:${username} password_hash salt | cmd has the wrong number of fields for HGET",
                "cmd | HMGET mqtt_user:${username} salt | cmd must have the field password_hash",
                "cmd | HMGET mqtt_user:${username} password_hash mail | cmd must have the field password_hash",
                "cmd | HGETALL mqtt_user:${username} | cmd must be one of",
                "cmd | DEL mqtt_user:${username} | cmd must be one of",
                "cmd | EVAL ${username} 0 | cmd must be one of",
                "acl.cmd | GET mqtt_acl:${username} | acl.cmd must be one of",
                "acl.cmd | HGETALL mqtt_acl:${username} x | acl.cmd has the wrong number of fields for HGETALL",
                "acl.cmd | HGETALL mqtt_acl:${usr} | acl.cmd has the placeholder ${usr};",
                "url | http://127.0.0.1 | url must be redis://HOST:PORT",
                "url | redis://:secret@127.0.0.1 | url must be redis://HOST:PORT",
                "url | redis://127.0.0.1/2 | url must be redis://HOST:PORT",
                "url | redis://127.0.0.1,redis://127.0.0.2 | url has several servers",
                "url | redis://127.0.0.1,rediss://127.0.0.2 | url must have only",
                "mode | sentinel | sentinel-master must be set",
                "sentinel-master | main | sentinel-master is for mode: sentinel",
                "username | smqtt | username needs password",
                "sentinel-username | smqtt | sentinel-username is for mode: sentinel",
                "sentinel-password-file | file | sentinel-password-file is for mode: sentinel",
                "password-file | /missing/file | password-file cannot be read: /missing/file",
                "superusers | false | superusers is for style: go-auth",
                "ca | ca.pem | ca needs rediss://",
                "hash.name | scrypt | hash.name must be",
                "style | files | style must be emqx, go-auth"
            })
    void aWrongValueIsNamedWithItsKey(String key, String value, String problem) {
        List<String> keys = new ArrayList<>();
        if (!key.equals("url")) {
            keys.addAll(List.of("url", "redis://127.0.0.1"));
        }
        keys.addAll(List.of(key, value));

        assertThatThrownBy(() -> RedisBackendTest.backend(keys.toArray(String[]::new)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(problem);
    }

    @Test
    void commandsAreNotForTheKeysOfGoAuth() {
        assertThatThrownBy(() -> RedisBackendTest.backend(
                        "url", "redis://127.0.0.1", "style", "go-auth", "cmd", "HMGET ${username} password_hash"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("cmd is for style: emqx");
    }

    @Test
    void aClusterHasOneDatabase() {
        assertThatThrownBy(
                        () -> RedisBackendTest.backend("url", "redis://127.0.0.1", "mode", "cluster", "database", "1"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("database must be 0");
    }

    @Test
    void sentinelsHaveAUserOfTheirOwn() {
        assertThatThrownBy(() -> RedisBackendTest.backend(
                        "url", "redis://127.0.0.1",
                        "mode", "sentinel",
                        "sentinel-master", "main",
                        "sentinel-username", "smqtt"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("sentinel-username needs sentinel-password or sentinel-password-file");
    }

    @Test
    void theKeysOfGoAuthCanBeInACluster() {
        AccessBackend backend =
                RedisBackendTest.backend("url", "redis://127.0.0.1:1", "mode", "cluster", "style", "go-auth");

        assertThat(backend.abilities()).hasSize(2);
        backend.close();
    }

    /** The broker starts while Redis is down. */
    @Test
    void openingDoesNotConnect() {
        AccessBackend backend = RedisBackendTest.backend("url", "redis://127.0.0.1:1");

        assertThat(backend.abilities()).containsExactlyInAnyOrder(Ability.USERS, Ability.RULES);
        assertThat(backend.isLocal()).isFalse();
        backend.close();
    }

    @Test
    void theTypeIsFound() {
        assertThat(ServiceLoader.load(AccessBackendFactory.class))
                .extracting(AccessBackendFactory::type)
                .contains("redis");
    }

    @Test
    void everyKeyIsOnThePageOfTheType() throws IOException {
        String page = Files.readString(Path.of("../docs/access-redis.md"));

        assertThat(new RedisBackendFactory().settings())
                .extracting(BackendSetting::name)
                .filteredOn(name -> !name.startsWith("hash."))
                .allSatisfy(name -> assertThat(page).contains("`" + name + "`"));
        assertThat(page).contains("hash.*");
    }
}
