// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.AccessConfig;
import io.smqtt.config.AnonymousAccess;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClientIdentity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AccessControlTest {

    private static final Duration SOON = Duration.ofSeconds(10);

    private Path passwordFile;
    private Path aclFile;
    private @Nullable AccessControl access;

    @BeforeEach
    void writeFiles(@TempDir Path directory) throws IOException {
        passwordFile = directory.resolve("passwords");
        aclFile = directory.resolve("acl");
        writeUser("alice");
        Files.writeString(aclFile, "user alice\ntopic a\n");
    }

    @AfterEach
    void close() {
        if (access != null) {
            access.close();
        }
    }

    @Test
    void byDefaultAnonymousClientsComeInFromLoopbackOnly() {
        access = AccessControl.open(AccessConfig.defaults(), List.of(), List.of(), BrokerObserver.NONE);

        assertThat(login(Clients.anonymousFrom("127.0.0.1"))).isEqualTo(Authentication.accepted(null));
        assertThat(login(Clients.anonymousFrom("192.0.2.7"))).isEqualTo(refused(ReasonCode.NOT_AUTHORIZED));
        assertThat(login(Clients.login("alice", "x"))).isEqualTo(refused(ReasonCode.BAD_USER_NAME_OR_PASSWORD));
        assertThat(decide(Clients.anonymous(), AccessAction.PUBLISH, "a")).isEqualTo(AccessDecision.ALLOW);
        assertThat(decide(Clients.anonymous(), AccessAction.PUBLISH, "$SYS/a")).isEqualTo(AccessDecision.DENY);
        assertThat(decide(Clients.anonymous(), AccessAction.SUBSCRIBE, "$SYS/#"))
                .isEqualTo(AccessDecision.ALLOW);
        assertThat(decide(Clients.anonymous(), AccessAction.PUBLISH, "$event/connect"))
                .isEqualTo(AccessDecision.DENY);
        assertThat(decide(Clients.anonymous(), AccessAction.SUBSCRIBE, "$event/#"))
                .isEqualTo(AccessDecision.DENY);
        assertThat(access.enhancedAuthenticators()).isEmpty();
        assertThat(access.authorizer().checksDeliveries()).isFalse();
        assertThat(access.reload()).isEqualTo(new AccessReload(List.of(), List.of(), List.of(), Set.of()));
    }

    @Test
    void aPasswordFileLetsItsUsersInAndNobodyElse() {
        open(AnonymousAccess.TRUE, List.of(), List.of());

        assertThat(login(Clients.login("alice", "alice"))).isEqualTo(Authentication.accepted("alice"));
        assertThat(login(Clients.login("bob", "bob"))).isEqualTo(refused(ReasonCode.BAD_USER_NAME_OR_PASSWORD));
        assertThat(login(Clients.certified("meter"))).isEqualTo(Authentication.accepted("meter"));
        assertThat(login(Clients.anonymousFrom("192.0.2.7"))).isEqualTo(Authentication.accepted(null));
        assertThat(access.enhancedAuthenticators())
                .singleElement()
                .satisfies(method -> assertThat(method.method()).isEqualTo("SCRAM-SHA-256"));
    }

    @Test
    void pluggedInChecksAreAskedFirst() {
        Authenticator bans = request -> "alice".equals(request.userName())
                ? new Authentication.Refused(ReasonCode.BANNED).now()
                : Authentication.CONTINUE.now();
        Authorizer opens =
                request -> (request.topic().equals("open") ? AccessDecision.ALLOW : AccessDecision.CONTINUE).now();
        open(AnonymousAccess.FALSE, List.of(bans), List.of(opens));

        assertThat(login(Clients.login("alice", "alice"))).isEqualTo(refused(ReasonCode.BANNED));
        assertThat(decide(Clients.user("bob"), AccessAction.PUBLISH, "open")).isEqualTo(AccessDecision.ALLOW);
        assertThat(decide(Clients.user("alice"), AccessAction.PUBLISH, "a")).isEqualTo(AccessDecision.ALLOW);
        assertThat(decide(Clients.user("bob"), AccessAction.PUBLISH, "a")).isEqualTo(AccessDecision.DENY);
    }

    @Test
    void withAPluggedInAuthenticatorUserNamesAreNotIgnored() {
        AccessConfig config =
                AccessConfig.builder().allowAnonymous(AnonymousAccess.TRUE).build();
        access = AccessControl.open(
                config, List.of(request -> Authentication.CONTINUE.now()), List.of(), BrokerObserver.NONE);

        assertThat(login(Clients.login("alice", "x"))).isEqualTo(refused(ReasonCode.BAD_USER_NAME_OR_PASSWORD));
    }

    @Test
    void nobodyPublishesToSysEvenIfRulesSaySo() throws IOException {
        Files.writeString(aclFile, "user alice\ntopic readwrite $SYS/#\n");
        open(AnonymousAccess.FALSE, List.of(), List.of());

        assertThat(decide(Clients.user("alice"), AccessAction.PUBLISH, "$SYS/x"))
                .isEqualTo(AccessDecision.DENY);
        assertThat(decide(Clients.user("alice"), AccessAction.SUBSCRIBE, "$SYS/#"))
                .isEqualTo(AccessDecision.ALLOW);
    }

    @Test
    void adminsReadTheBrokersTopicsUnlessTheyAreDenied() throws IOException {
        ClientIdentity admin = Clients.client("c1", "root", "192.0.2.7", "admin");
        Files.writeString(aclFile, "user alice\ntopic readwrite #\n");
        open(AnonymousAccess.FALSE, List.of(), List.of());
        assertThat(decide(admin, AccessAction.SUBSCRIBE, "$SYS/#")).isEqualTo(AccessDecision.ALLOW);
        assertThat(decide(admin, AccessAction.RECEIVE, "$event/x")).isEqualTo(AccessDecision.ALLOW);
        assertThat(decide(admin, AccessAction.SUBSCRIBE, "$CONTROL/x")).isEqualTo(AccessDecision.DENY);
        assertThat(decide(admin, AccessAction.SUBSCRIBE, "a")).isEqualTo(AccessDecision.DENY);
        assertThat(decide(admin, AccessAction.PUBLISH, "$SYS/x")).isEqualTo(AccessDecision.DENY);
        assertThat(decide(Clients.user("alice"), AccessAction.SUBSCRIBE, "$SYS/#"))
                .isEqualTo(AccessDecision.DENY);

        Files.writeString(aclFile, "user root\ntopic deny $SYS/broker/clients/#\n");
        access.reload();
        assertThat(decide(admin, AccessAction.RECEIVE, "$SYS/broker/clients/total"))
                .isEqualTo(AccessDecision.DENY);
        assertThat(decide(admin, AccessAction.RECEIVE, "$SYS/broker/uptime")).isEqualTo(AccessDecision.ALLOW);
    }

    @Test
    void filesThatCannotBeUsedStopTheStart() throws IOException {
        Files.writeString(aclFile, "user alice\nnonsense\n");
        assertThatThrownBy(() -> open(AnonymousAccess.TRUE, List.of(), List.of()))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith(aclFile + ":2: ");

        Files.writeString(passwordFile, "alice:secret\n");
        assertThatThrownBy(() -> open(AnonymousAccess.TRUE, List.of(), List.of()))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith(passwordFile + ":1: ");

        Files.delete(passwordFile);
        assertThatThrownBy(() -> open(AnonymousAccess.TRUE, List.of(), List.of()))
                .isInstanceOf(ConfigurationException.class);
    }

    @Test
    void aReloadChangesWhatTheSameObjectsAnswer() throws IOException {
        open(AnonymousAccess.FALSE, List.of(), List.of());
        Authorizer authorizer = access.authorizer();
        long before = authorizer.generation();
        assertThat(authorizer.checksDeliveries()).isTrue();
        writeUser("bob");
        Files.writeString(aclFile, "user bob\ntopic b\ntopic deny read b/secret\n");

        AccessReload reload = access.reload();

        assertThat(reload.isComplete()).isTrue();
        assertThat(reload.reloaded()).containsExactly(passwordFile, aclFile);
        assertThat(authorizer.generation()).isGreaterThan(before);
        assertThat(login(Clients.login("alice", "alice"))).isEqualTo(refused(ReasonCode.BAD_USER_NAME_OR_PASSWORD));
        assertThat(login(Clients.login("bob", "bob"))).isEqualTo(Authentication.accepted("bob"));
        assertThat(decide(Clients.user("alice"), AccessAction.PUBLISH, "a")).isEqualTo(AccessDecision.DENY);
        assertThat(decide(Clients.user("bob"), AccessAction.PUBLISH, "b")).isEqualTo(AccessDecision.ALLOW);
    }

    @Test
    void aReloadKeepsWhatABrokenFileHeldBefore() throws IOException {
        open(AnonymousAccess.FALSE, List.of(), List.of());
        long before = access.authorizer().generation();
        writeUser("bob");
        Files.writeString(aclFile, "topic readwrite #\nnonsense\n");

        AccessReload reload = access.reload();

        assertThat(reload.isComplete()).isFalse();
        assertThat(reload.reloaded()).containsExactly(passwordFile);
        assertThat(reload.problems()).singleElement().asString().startsWith(aclFile + ":2: ");
        assertThat(access.authorizer().generation()).isEqualTo(before);
        assertThat(decide(Clients.user("alice"), AccessAction.PUBLISH, "a")).isEqualTo(AccessDecision.ALLOW);
        assertThat(decide(Clients.anonymous(), AccessAction.PUBLISH, "a")).isEqualTo(AccessDecision.DENY);

        Files.delete(passwordFile);
        assertThat(access.reload().problems()).hasSize(2);
        assertThat(login(Clients.login("bob", "bob"))).isEqualTo(Authentication.accepted("bob"));
    }

    @Test
    void aReloadNamesWhoWasRemoved() throws IOException {
        open(AnonymousAccess.FALSE, List.of(), List.of());
        assertThat(access.reload().removedUsers()).isEmpty();
        Files.delete(passwordFile);
        writeUser("bob");

        assertThat(access.reload().removedUsers()).containsExactly("alice");
        Files.writeString(passwordFile, "no password file");
        assertThat(access.reload().removedUsers()).isEmpty();
    }

    @Test
    void emptyFilesLetNobodyInAndAllowNothingAndAreReported() throws IOException {
        Files.writeString(passwordFile, "");
        Files.writeString(aclFile, "");
        open(AnonymousAccess.FALSE, List.of(), List.of());

        assertThat(access.warnings())
                .anyMatch(text -> text.contains("no user"))
                .anyMatch(text -> text.contains("no rule"));
        assertThat(login(Clients.login("alice", "alice"))).isEqualTo(refused(ReasonCode.BAD_USER_NAME_OR_PASSWORD));
        assertThat(decide(Clients.user("alice"), AccessAction.PUBLISH, "a")).isEqualTo(AccessDecision.DENY);
        assertThat(access.reload().warnings()).hasSizeGreaterThanOrEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n", " \n\n"})
    void aReloadKeepsTheUsersAndRulesOfFilesThatAreEmptyNow(String content) throws IOException {
        open(AnonymousAccess.FALSE, List.of(), List.of());
        Files.writeString(passwordFile, content);
        Files.writeString(aclFile, content);

        AccessReload reload = access.reload();

        assertThat(reload.reloaded()).isEmpty();
        assertThat(reload.removedUsers()).isEmpty();
        assertThat(reload.problems())
                .hasSize(2)
                .allSatisfy(problem -> assertThat(problem).contains("is empty, but was not before"));
        assertThat(login(Clients.login("alice", "alice"))).isEqualTo(Authentication.accepted("alice"));
        assertThat(decide(Clients.user("alice"), AccessAction.PUBLISH, "a")).isEqualTo(AccessDecision.ALLOW);
    }

    @Test
    void aReloadKeepsTheUsersAndRulesOfFilesThatWereCutAnywhereWithinALine() throws IOException {
        writeUsers("alice", "bob");
        Files.writeString(aclFile, "topic read a\nuser alice\ntopic readwrite a/b/c\ntopic deny read a/secret/#\n");
        open(AnonymousAccess.FALSE, List.of(), List.of());
        String users = Files.readString(passwordFile);
        String rules = Files.readString(aclFile);

        for (int length = 0; length < users.length(); length++) {
            if (length == 0 || users.charAt(length - 1) != '\n') {
                Files.writeString(passwordFile, users.substring(0, length));
                AccessReload reload = access.reload();
                assertThat(reload.problems()).as("%s bytes of users", length).hasSize(1);
                assertThat(reload.removedUsers()).isEmpty();
            }
        }
        Files.writeString(passwordFile, users);
        for (int length = 0; length < rules.length(); length++) {
            if (length == 0 || rules.charAt(length - 1) != '\n') {
                Files.writeString(aclFile, rules.substring(0, length));
                assertThat(access.reload().problems())
                        .as("%s bytes of rules", length)
                        .hasSize(1);
            }
        }
        assertThat(login(Clients.login("bob", "bob"))).isEqualTo(Authentication.accepted("bob"));
    }

    @Test
    void takingOutTheLastUserOnPurposeTakesEffectWithAReload() throws IOException {
        open(AnonymousAccess.FALSE, List.of(), List.of());
        PasswordFile users = PasswordFile.read(passwordFile);
        users.delete("alice");
        users.write(passwordFile);
        Files.writeString(aclFile, "# nothing\n");

        AccessReload reload = access.reload();

        assertThat(reload.problems()).isEmpty();
        assertThat(reload.removedUsers()).containsExactly("alice");
        writeUser("carol");
        assertThat(Files.readString(passwordFile)).doesNotContain("no users");
    }

    @Test
    void aFileThatNeverHadALastLineEndIsReloadedWithoutOne() throws IOException {
        Files.writeString(aclFile, "topic readwrite a");
        open(AnonymousAccess.FALSE, List.of(), List.of());
        Files.writeString(aclFile, "user alice\ntopic readwrite b");

        assertThat(access.reload().problems()).isEmpty();
        assertThat(decide(Clients.user("alice"), AccessAction.PUBLISH, "b")).isEqualTo(AccessDecision.ALLOW);
    }

    private void open(AnonymousAccess anonymous, List<Authenticator> authenticators, List<Authorizer> authorizers) {
        AccessConfig config = AccessConfig.builder()
                .allowAnonymous(anonymous)
                .passwordFile(passwordFile)
                .aclFile(aclFile)
                .failedLogins(0)
                .build();
        access = AccessControl.open(config, authenticators, authorizers, BrokerObserver.NONE);
    }

    private void writeUser(String userName) throws IOException {
        writeUsers(userName);
    }

    private void writeUsers(String... userNames) throws IOException {
        PasswordFile users = PasswordFile.empty();
        for (String userName : userNames) {
            users.set(userName, userName.getBytes(StandardCharsets.UTF_8), PasswordFile.Kind.PBKDF2_SHA_512, 5);
        }
        users.write(passwordFile);
    }

    private @Nullable Authentication login(AuthenticationRequest request) {
        return access.authenticator().authenticate(request).block(SOON);
    }

    private @Nullable AccessDecision decide(ClientIdentity client, AccessAction action, String topic) {
        return access.authorizer()
                .authorize(client, action, topic, QoS.AT_MOST_ONCE, false)
                .block(SOON);
    }

    private static Authentication refused(ReasonCode reason) {
        return new Authentication.Refused(reason);
    }
}
