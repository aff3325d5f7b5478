// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.ldap;

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
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The keys of {@code type: ldap}. */
class LdapBackendFactoryTest {

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "base-dn | uid=${user},dc=example | smqtt.yaml:2: access.backends.directory.base-dn has the placeholder ${user};",
                "base-dn | uid=${password},dc=example | base-dn has the placeholder ${password} that has no value here",
                "base-dn | uid=${username | base-dn has a placeholder without }",
                "base-dn | ${username} | base-dn cannot be read",
                "base-dn | ${username}=ann,dc=example | base-dn has a placeholder in the name of an attribute",
                "base-dn | dc=example | base-dn has no placeholder, and filter has none",
                "filter | (uid=${usr}) | smqtt.yaml:3: access.backends.directory.filter has the placeholder ${usr};",
                "filter | (uid=${username} | filter cannot be read",
                "filter | (${username}=1) | filter has a placeholder in the name of an attribute",
                "filter | (&(a=1)(!(cn:${username}:=1))) | filter has a placeholder in the name of an attribute",
                "filter | ${username} | filter cannot be read",
                "url | http://127.0.0.1 | url must be ldap://HOST:PORT",
                "url | ldap://ann:secret@127.0.0.1 | url must be ldap://HOST:PORT",
                "url | ldap://127.0.0.1/dc=example | url must be ldap://HOST:PORT",
                "url | ldap://127.0.0.1,ldaps://127.0.0.1 | url must have only",
                "ca | ca.pem | ca needs ldaps:// or start-tls",
                "bind-password | secret | needs bind-dn",
                "bind-dn | cn=smqtt | bind-dn needs bind-password",
                "bind-dn | nobody | bind-dn must be a distinguished name",
                "method | kerberos | method must be bind, hash",
                "scope | all | scope must be base, one, sub"
            })
    void aWrongValueIsNamedWithItsKey(String key, String value, String problem) {
        List<String> keys = new ArrayList<>(List.of(
                "url", "ldap://127.0.0.1", "base-dn", "uid=${username},dc=example", "filter", "(objectClass=*)"));
        int index = keys.indexOf(key);
        if (index < 0) {
            keys.addAll(List.of(key, value));
        } else {
            keys.set(index + 1, value);
        }

        assertThatThrownBy(() -> TestDirectory.backend(keys.toArray(String[]::new)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(problem);
    }

    @Test
    void startTlsIsNotForLdaps() {
        assertThatThrownBy(() -> TestDirectory.backend(
                        "url", "ldaps://127.0.0.1", "base-dn", "uid=${username},dc=example", "start-tls", "true"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("start-tls is for ldap://");
    }

    @Test
    void aFileWithoutCertificatesStopsTheStart() throws IOException {
        Path file = Files.writeString(directory.resolve("ca.pem"), "nothing");

        assertThatThrownBy(() -> TestDirectory.backend(
                        "url", "ldaps://127.0.0.1", "base-dn", "uid=${username},dc=example", "ca", file.toString()))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("smqtt.yaml:3: access.backends.directory.ca names ");
    }

    /** The broker starts while a directory is down. */
    @Test
    void openingDoesNotConnect() throws IOException {
        Path file = Files.writeString(directory.resolve("password"), "searcher\n");
        AccessBackend backend = TestDirectory.backend(
                "url",
                "ldap://127.0.0.1:1",
                "base-dn",
                "uid=${username},dc=example",
                "bind-dn",
                "cn=smqtt",
                "bind-password-file",
                file.toString());

        assertThat(backend.abilities()).containsExactlyInAnyOrder(Ability.USERS, Ability.RULES);
        assertThat(backend.isLocal()).isFalse();
        backend.close();
    }

    @Test
    void theTypeIsFound() {
        assertThat(ServiceLoader.load(AccessBackendFactory.class))
                .extracting(AccessBackendFactory::type)
                .contains("ldap");
    }

    @Test
    void everyKeyIsOnThePageOfTheType() throws IOException {
        String page = Files.readString(Path.of("../docs/access-ldap.md"));

        assertThat(new LdapBackendFactory().settings())
                .extracting(BackendSetting::name)
                .allSatisfy(name -> assertThat(page).containsAnyOf("`" + name + "`", "`" + name + ".<name>`"));
    }
}
