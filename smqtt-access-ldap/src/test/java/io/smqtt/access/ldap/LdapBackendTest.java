// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.ldap;

import static io.smqtt.access.ldap.TestDirectory.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.ResultCode;
import io.smqtt.access.RuleList.Actions;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.BackendAnswer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The backend with a directory in memory. */
class LdapBackendTest {

    private static final String SSHA = "{SSHA}P1+3zAc/WkUsFbGKhiTEzEp7D2XeFgsQ";

    private TestDirectory directory;
    private @Nullable AccessBackend opened;

    @BeforeEach
    void start() throws LDAPException {
        directory = new TestDirectory();
        directory.addUser("ann", "userPassword: secret", "isSuperuser: FALSE", "departmentNumber: s1");
        directory.addUser("root", "userPassword: toor", "isSuperuser: TRUE");
        directory.addUser("gone", "userPassword: secret", "isEnabled: FALSE");
        directory.addUser("hashed", "userPassword: " + SSHA);
        directory.addUser("odd", "userPassword: {SASL}odd");
        directory.addUser("bare");
    }

    @AfterEach
    void stop() {
        if (opened != null) {
            opened.close();
        }
        directory.close();
    }

    private AccessBackend open(String... keysAndValues) {
        opened = directory.open(keysAndValues);
        return opened;
    }

    private static BackendAnswer ask(AccessBackend backend, @Nullable String user, @Nullable String password) {
        return Objects.requireNonNull(
                backend.authenticate(request(user, password)).block(Duration.ofSeconds(10)));
    }

    private static List<AccessRule> rules(AccessBackend backend, String user) {
        return Objects.requireNonNull(backend.rules(request(user, null)).block(Duration.ofSeconds(10)));
    }

    @Test
    void theServerChecksThePasswordByABind() {
        AccessBackend backend = open();

        assertThat(ask(backend, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());
        assertThat(ask(backend, "ann", "wrong")).isEqualTo(BackendAnswer.DENY);
        assertThat(ask(backend, "bob", "secret")).isEqualTo(BackendAnswer.NOT_MINE);
        assertThat(ask(backend, null, "secret")).isEqualTo(BackendAnswer.NOT_MINE);
        assertThat(ask(backend, "gone", "secret")).isEqualTo(BackendAnswer.DENY);
        assertThat(ask(backend, "root", "toor"))
                .isInstanceOfSatisfying(
                        BackendAnswer.Allow.class,
                        allow -> assertThat(allow.superuser()).isTrue());
        assertThat(directory.binds())
                .containsExactly(
                        "uid=ann,ou=devices,dc=example,dc=org",
                        "uid=ann,ou=devices,dc=example,dc=org",
                        "uid=root,ou=devices,dc=example,dc=org");
    }

    /** A server takes a name without a password for an anonymous bind, and says success (RFC 4513, section 5.1.2). */
    @Test
    void anEmptyPasswordIsNeverSentToTheServer() {
        for (String method : List.of("bind", "hash")) {
            AccessBackend backend = open("method", method);

            assertThat(ask(backend, "ann", "")).as(method).isEqualTo(BackendAnswer.DENY);
            assertThat(ask(backend, "ann", null)).as(method).isEqualTo(BackendAnswer.DENY);
            assertThat(ask(backend, "bare", "")).as(method).isEqualTo(BackendAnswer.DENY);
            backend.close();
        }
        assertThat(directory.binds()).isEmpty();
    }

    @Test
    void theBrokerChecksTheHashOfTheEntry() {
        AccessBackend backend = open("method", "hash");

        assertThat(ask(backend, "hashed", "secret")).isEqualTo(new BackendAnswer.Allow());
        assertThat(ask(backend, "hashed", "Secret")).isEqualTo(BackendAnswer.DENY);
        assertThat(ask(backend, "ann", "secret")).as("without a scheme").isEqualTo(new BackendAnswer.Allow());
        assertThat(ask(backend, "odd", "odd")).as("unknown scheme").isEqualTo(BackendAnswer.DENY);
        assertThat(ask(backend, "bare", "secret")).as("no password").isEqualTo(BackendAnswer.DENY);
        assertThat(ask(backend, "gone", "secret")).isEqualTo(BackendAnswer.DENY);
        assertThat(directory.binds()).isEmpty();
    }

    /** Made of {@code secret} by slappasswd, the argon2 program and OpenSSL's PBKDF2. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{ARGON2}$argon2i$v=19$m=4096,t=3,p=1$aI2EbREGHEBNBoXT/NKaHw$AVS2WUV7oiUEMwsa41/lr6quQRM11UAjt6dGxl4teh4",
                "{ARGON2}$argon2id$v=19$m=4096,t=2,p=1$c2FsdHNhbHQ$84A2PW5mlTvAhhyioPv7Z0MY6rvobdz+ETtOz3xDUyU",
                "{CRYPT}$2b$04$Pi6rPOKKaPc4hCZCQHNo4uWQyAyci9TXg7Jg9OnxZiNeDY377zjdq",
                "{CRYPT}$6$lnduFBa90d9oJgyo$Crz.PfKGLs4tHBfU297sASoQaLXAfYRv1pTI7hTU/2/U3sVwnhCqFrcgUHomR6Y.VQZ/4tu7hLnPgY2EOWI.p1",
                "{CRYPT}$5$rounds=2000$vhHguJuC$cttOBiiBclTaeiBaDDEtzvLn/dCzHgZoKnch/FMeaX1",
                "{PBKDF2}10000$././c2FsdHNhbHRzYWx0$prZ3WxSs7a8umfxv34SWrgsop.k",
                "{PBKDF2-SHA1}10000$c2FsdHNhbHRzYWx0c2FsdA$T13Isf42NxuNoD5Chs2u8B13b7o",
                "{PBKDF2-SHA256}10000$././c2FsdHNhbHRzYWx0$jRXdk2NScfOigQ.xbuGaUip0zO3C8ORywBlYVRcM2A0",
                "{PBKDF2-SHA512}10000$c2FsdHNhbHRzYWx0c2FsdA$"
                        + "f.bBNpDm1dD76HDTg44Z2qO0KWw9xM1beWOT/VyOFnsrrTMYXRqDM2j3OuOtqE6QcICME/YUg8pPtTkNPmH1Yg"
            })
    void hashesThatAreSlowOnPurposeAreCompared(String stored) {
        directory.addUser("slow", "userPassword: " + stored);
        directory.addUser("two", "userPassword: " + SSHA, "userPassword: " + stored);
        directory.addUser("damaged", "userPassword: " + stored.substring(0, stored.lastIndexOf('$')));
        AccessBackend backend = open("method", "hash");

        assertThat(ask(backend, "slow", "secret")).isEqualTo(new BackendAnswer.Allow());
        assertThat(ask(backend, "slow", "Secret")).isEqualTo(BackendAnswer.DENY);
        assertThat(ask(backend, "slow", "")).isEqualTo(BackendAnswer.DENY);
        assertThat(ask(backend, "two", "secret")).isEqualTo(new BackendAnswer.Allow());
        assertThat(ask(backend, "damaged", "secret")).isEqualTo(BackendAnswer.DENY);
    }

    @Test
    void attributesOfTheEntryBecomeThoseOfTheClient() {
        AccessBackend backend =
                open("client-attributes.site", "departmentNumber", "client-attributes.none", "telephoneNumber");

        assertThat(ask(backend, "ann", "secret"))
                .isEqualTo(new BackendAnswer.Allow(false, Map.of("site", "s1"), null, null));
    }

    @Test
    void rulesThatDenyComeBeforeThoseThatAllow() {
        directory.addUser(
                "ruled",
                "mqttPublishTopic: up/${clientid}",
                "mqttSubscriptionTopic: down/#",
                "mqttPubSubTopic: eq both/+",
                "mqttAclRule: {\"permission\": \"allow\", \"topic\": \"a/#\"}",
                "mqttAclRule: [{\"permission\": \"allow\", \"topic\": \"b/#\"},"
                        + " {\"permission\": \"deny\", \"action\": \"publish\", \"topic\": \"a/locked\"}]");
        AccessBackend backend = open();

        List<AccessRule> rules = rules(backend, "ruled");

        assertThat(rules)
                .extracting(one -> one.rule().topic())
                .startsWith("a/locked")
                .endsWith("up/${clientid}", "down/#", "both/+")
                .hasSize(6);
        assertThat(rules).extracting(one -> one.rule().allow()).containsExactly(false, true, true, true, true, true);
        assertThat(rules)
                .extracting(one -> one.rule().actions())
                .endsWith(Actions.PUBLISH, Actions.SUBSCRIBE, Actions.ALL);
        assertThat(rules.get(5).rule().literal()).isTrue();
        assertThat(rules(backend, "ann")).as("no rules").isEmpty();
        assertThat(rules(backend, "nobody")).as("no entry").isEmpty();
    }

    @Test
    void oneListKeepsItsOrder() {
        directory.addUser(
                "ruled",
                "mqttAclRule: [{\"permission\": \"allow\", \"topic\": \"a/1\"}, {\"permission\": \"deny\", \"topic\": \"a/#\"}]");

        assertThat(rules(open(), "ruled")).extracting(one -> one.rule().topic()).containsExactly("a/1", "a/#");
    }

    @Test
    void aRuleThatCannotBeReadIsAFailure() {
        directory.addUser("ruled", "mqttAclRule: {\"permission\": \"maybe\", \"topic\": \"a\"}");
        AccessBackend backend = open();

        assertThatThrownBy(() -> rules(backend, "ruled"))
                .isInstanceOf(LdapFailedException.class)
                .hasMessageContaining("permission");
    }

    @Test
    void severalEntriesAreAFailure() {
        directory.addUser("twin1", "mail: twin@example.org");
        directory.addUser("twin2", "mail: twin@example.org");
        AccessBackend backend = open("filter", "(mail=${clientid}@example.org)");
        AccessBackend twins = TestDirectory.backend(
                "url", directory.url(), "base-dn", "dc=example,dc=org", "filter", "(mail=${username}@example.org)");

        assertThatThrownBy(() -> ask(twins, "twin", "secret"))
                .isInstanceOf(LdapFailedException.class)
                .hasMessageContaining("more than one entry");
        assertThat(ask(backend, "ann", "secret")).as("filter of another").isEqualTo(BackendAnswer.NOT_MINE);
        twins.close();
    }

    @Test
    void aReferralIsNotFollowed() {
        directory.failSearches(ResultCode.REFERRAL, directory.url() + "/" + "uid=ann,ou=devices,dc=example,dc=org");
        AccessBackend backend = open();

        assertThatThrownBy(() -> ask(backend, "ann", "secret"))
                .isInstanceOf(LdapFailedException.class)
                .hasMessageContaining("referral");
    }

    @Test
    void aWrongAccountOfTheBrokerIsAFailureAndNoRefusal() {
        AccessBackend wrong = open("bind-dn", "cn=smqtt", "bind-password", "mistaken");

        assertThatThrownBy(() -> ask(wrong, "ann", "secret"))
                .isInstanceOf(LdapFailedException.class)
                .hasMessageContaining("invalid credentials")
                .hasMessageNotContaining("mistaken");
        wrong.close();
        AccessBackend right = open("bind-dn", "cn=smqtt", "bind-password", "searcher");

        assertThat(ask(right, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());
    }

    @Test
    void aServerThatComesBackIsUsedAgain() throws LDAPException {
        AccessBackend backend = open();
        assertThat(ask(backend, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());
        directory.stop();

        assertThatThrownBy(() -> ask(backend, "ann", "secret")).isInstanceOf(LdapFailedException.class);
        directory.startAgain();

        await().untilAsserted(() -> assertThat(ask(backend, "ann", "secret")).isEqualTo(new BackendAnswer.Allow()));
    }

    @Test
    void theCallerNeverWaits() {
        AccessBackend backend = open();
        Thread caller = Thread.currentThread();

        Thread worker = backend.authenticate(request("ann", "secret"))
                .map(answer -> Thread.currentThread())
                .block(Duration.ofSeconds(10));

        assertThat(worker).isNotSameAs(caller);
        assertThat(Objects.requireNonNull(worker).getName()).startsWith("smqtt-access-directory");
    }

    /** Names made of everything that means something in a filter or a name find nobody, by either template. */
    @Test
    void noUserNameFindsTheEntryOfAnother() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        AccessBackend byName = open("method", "hash");
        AccessBackend byFilter = TestDirectory.backend(
                "url",
                directory.url(),
                "base-dn",
                "ou=devices,dc=example,dc=org",
                "filter",
                "(&(objectClass=mqttUser)(uid=${username}))",
                "method",
                "hash");
        List<String> pieces = List.of(
                "*", "(", ")", "\\", "\0", ",", "+", "\"", "=", "<", ">", ";", "#", " ", "uid", "ann", "&", "|", "!",
                "é", "\\2a", "\n");
        for (int i = 0; i < 400; i++) {
            StringBuilder name = new StringBuilder();
            for (int length = 1 + random.nextInt(6); length > 0; length--) {
                name.append(pieces.get(random.nextInt(pieces.size())));
            }
            String user = name.toString();
            if (!user.strip().equals("ann")) { // spaces around a value mean nothing to a directory
                assertThat(ask(byName, user, "secret"))
                        .as("%s, seed %d", user, seed)
                        .isEqualTo(BackendAnswer.NOT_MINE);
                assertThat(ask(byFilter, user, "secret"))
                        .as("%s, seed %d", user, seed)
                        .isEqualTo(BackendAnswer.NOT_MINE);
            }
        }
        assertThat(ask(byFilter, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());
        byFilter.close();
    }

    @Test
    void searchesUseThePasswordThatWasReadLast(@TempDir Path files) throws IOException {
        Path file = Files.writeString(files.resolve("password"), "wrong");
        AccessBackend backend = open("bind-dn", "cn=smqtt", "bind-password-file", file.toString());
        assertThatThrownBy(() -> ask(backend, "ann", "secret")).hasMessageContaining("credentials");

        Files.writeString(file, "searcher\n");
        assertThat(backend.reload().reloaded()).containsExactly(file.toString());
        assertThat(ask(backend, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());

        Files.delete(file);
        assertThat(backend.reload().failed())
                .containsExactly("smqtt.yaml:4: access.backends.directory.bind-password-file cannot be read: " + file);
        assertThat(ask(backend, "ann", "secret")).isEqualTo(new BackendAnswer.Allow());
    }
}
