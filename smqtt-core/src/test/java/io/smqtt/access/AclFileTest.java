// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.ClientIdentity;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AclFileTest {

    private static final ClientIdentity ALICE = Clients.user("alice");
    private static final ClientIdentity BOB = Clients.user("bob");
    private static final ClientIdentity NOBODY = Clients.anonymous();

    private Path file;

    @BeforeEach
    void nameTheFile(@TempDir Path directory) {
        file = directory.resolve("acl");
    }

    @Test
    void topicRulesBelongToTheUserBeforeThem() {
        AclFile acl = acl("""
                # for clients without user
                topic read news/#

                user alice
                topic write in/alice
                topic read out/+
                topic both

                user bob
                topic readwrite shared/bob/#
                """);

        assertThat(publishes(acl, ALICE, "in/alice")).isTrue();
        assertThat(publishes(acl, ALICE, "out/1")).isFalse();
        assertThat(receives(acl, ALICE, "out/1")).isTrue();
        assertThat(receives(acl, ALICE, "in/alice")).isFalse();
        assertThat(publishes(acl, ALICE, "both") && receives(acl, ALICE, "both"))
                .isTrue();
        assertThat(publishes(acl, BOB, "in/alice")).isFalse();
        assertThat(publishes(acl, BOB, "shared/bob/1")).isTrue();
        assertThat(receives(acl, NOBODY, "news/1")).isTrue();
        assertThat(receives(acl, ALICE, "news/1")).isFalse();
        assertThat(publishes(acl, Clients.user("carol"), "in/alice")).isFalse();
    }

    @Test
    void aSectionCanBeContinuedFurtherDown() {
        AclFile acl = acl("user alice\ntopic a\nuser bob\ntopic b\nuser alice\ntopic c\n");

        assertThat(publishes(acl, ALICE, "a") && publishes(acl, ALICE, "c")).isTrue();
        assertThat(publishes(acl, ALICE, "b")).isFalse();
    }

    @Test
    void denyWinsOverAllowWhereverItStands() {
        AclFile acl = acl("""
                user alice
                topic readwrite a/#
                topic deny a/secret
                topic deny read a/readless
                topic deny write a/writeless
                pattern deny a/%u
                """);

        assertThat(publishes(acl, ALICE, "a/b") && receives(acl, ALICE, "a/b")).isTrue();
        assertThat(publishes(acl, ALICE, "a/secret") || receives(acl, ALICE, "a/secret"))
                .isFalse();
        assertThat(publishes(acl, ALICE, "a/readless")).isTrue();
        assertThat(receives(acl, ALICE, "a/readless")).isFalse();
        assertThat(publishes(acl, ALICE, "a/writeless")).isFalse();
        assertThat(receives(acl, ALICE, "a/writeless")).isTrue();
        assertThat(publishes(acl, ALICE, "a/alice")).isFalse();
    }

    @Test
    void whatIsDeniedIsDeniedAndWhatIsNotMentionedIsLeftToOthers() {
        AclFile acl = acl("user alice\ntopic a\ntopic deny b\n");

        assertThat(acl.decide(ALICE, AccessAction.PUBLISH, "b")).isEqualTo(AccessDecision.DENY);
        assertThat(acl.decide(ALICE, AccessAction.PUBLISH, "c")).isEqualTo(AccessDecision.CONTINUE);
    }

    @ParameterizedTest
    @CsvSource({
        "a/#, ALLOW",
        "a/+, ALLOW",
        "a/b, ALLOW",
        "#, CONTINUE",
        "+/b, CONTINUE",
        "+, CONTINUE",
        "a, ALLOW",
        "a/secret, DENY",
        "a/secret/#, DENY",
        "a/secret/+, DENY",
        "a/+/x, ALLOW",
    })
    void aSubscriptionMustBeCoveredAsAWhole(String filter, String decision) {
        AclFile acl = acl("user alice\ntopic read a/#\ntopic deny read a/secret/#\n");

        assertThat(acl.decide(ALICE, AccessAction.SUBSCRIBE, filter)).hasToString(decision);
    }

    @Test
    void aSubscriptionThatADenyRuleOverlapsIsFilteredByDelivery() {
        AclFile acl = acl("user alice\ntopic read a/#\ntopic deny read a/secret/#\n");

        assertThat(subscribes(acl, ALICE, "a/#")).isTrue();
        assertThat(receives(acl, ALICE, "a/b")).isTrue();
        assertThat(receives(acl, ALICE, "a/secret/1")).isFalse();
    }

    @Test
    void patternsAreForAllClients() {
        AclFile acl = acl("""
                user somebody
                pattern write devices/%c/up
                pattern read users/%u/#
                """);

        assertThat(publishes(acl, NOBODY, "devices/c1/up")).isTrue();
        assertThat(publishes(acl, ALICE, "devices/c1/up")).isTrue();
        assertThat(publishes(acl, ALICE, "devices/c2/up")).isFalse();
        assertThat(subscribes(acl, ALICE, "users/alice/#")).isTrue();
        assertThat(subscribes(acl, ALICE, "users/bob/#")).isFalse();
        assertThat(subscribes(acl, ALICE, "users/+/#")).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"+", "#", "a/b", "$SYS", "''"})
    void namesThatCouldActAsWildcardsMatchNoAllowingPattern(String name) {
        AclFile acl = acl("pattern readwrite %c/#\npattern readwrite x/%u/#\n");
        ClientIdentity client = Clients.client(name, name);

        assertThat(subscribes(acl, client, name + "/#")).isFalse();
        assertThat(receives(acl, client, "a/b/c")).isFalse();
        assertThat(receives(acl, client, "$SYS/a")).isFalse();
        assertThat(publishes(acl, client, "x/a/b")).isFalse();
    }

    @Test
    void namesThatCannotBeFilledInMakeADenyingPatternWider() {
        AclFile acl = acl("user a/b\ntopic readwrite #\npattern deny write users/%u/config\n");
        ClientIdentity client = Clients.user("a/b");

        assertThat(publishes(acl, client, "users/a/b/config")).isFalse();
        assertThat(publishes(acl, client, "users/x")).isFalse();
        assertThat(publishes(acl, client, "other")).isTrue();
    }

    @Test
    void anonymousClientsMatchNoPatternWithAUserName() {
        AclFile acl = acl("topic readwrite users/#\npattern deny users/%u/x\npattern readwrite o/%u\n");

        assertThat(publishes(acl, NOBODY, "users/null/x")).isTrue();
        assertThat(publishes(acl, NOBODY, "o/null")).isFalse();
        assertThat(publishes(acl, NOBODY, "o/")).isFalse();
    }

    @Test
    void wildcardsReachNoTopicsOfTheBrokerUnlessNamed() {
        AclFile all = acl("user alice\ntopic readwrite #\n");
        AclFile named = acl("user alice\ntopic read $SYS/#\ntopic $CONTROL/x\n");

        assertThat(subscribes(all, ALICE, "#")).isTrue();
        assertThat(subscribes(all, ALICE, "$SYS/#") || receives(all, ALICE, "$SYS/x"))
                .isFalse();
        assertThat(publishes(all, ALICE, "$CONTROL/x")).isFalse();
        assertThat(subscribes(named, ALICE, "$SYS/#") && receives(named, ALICE, "$SYS/x"))
                .isTrue();
        assertThat(publishes(named, ALICE, "$CONTROL/x")).isTrue();
    }

    @Test
    void rolesAddTheirRules() {
        AclFile acl = acl("""
                user alice
                topic read a
                role operator
                topic readwrite ops/#
                pattern readwrite own/%u
                role guest
                topic deny ops/secret
                """);
        ClientIdentity operator = Clients.client("c1", "alice", "192.0.2.7", "operator", "unknown");
        ClientIdentity both = Clients.client("c1", "alice", "192.0.2.7", "operator", "guest");

        assertThat(publishes(acl, ALICE, "ops/1") || publishes(acl, ALICE, "own/alice"))
                .isFalse();
        assertThat(publishes(acl, operator, "ops/secret") && publishes(acl, operator, "own/alice"))
                .isTrue();
        assertThat(receives(acl, operator, "a")).isTrue();
        assertThat(publishes(acl, both, "ops/1")).isTrue();
        assertThat(publishes(acl, both, "ops/secret")).isFalse();
    }

    @Test
    void addressesLimitTheRulesThatFollow() {
        AclFile acl = acl("""
                user alice
                topic everywhere
                address 10.0.0.0/8 2001:db8::/32
                topic inside
                address any
                topic anywhere
                address 192.0.2.0/24
                topic deny anywhere
                user bob
                topic b
                """);
        ClientIdentity inside = Clients.client("c1", "alice", "10.1.2.3");
        ClientIdentity insideSix = Clients.client("c1", "alice", "2001:db8::5");

        assertThat(publishes(acl, ALICE, "everywhere")).isTrue();
        assertThat(publishes(acl, ALICE, "inside")).isFalse();
        assertThat(publishes(acl, inside, "inside") && publishes(acl, insideSix, "inside"))
                .isTrue();
        assertThat(publishes(acl, inside, "anywhere")).isTrue();
        assertThat(publishes(acl, ALICE, "anywhere")).isFalse();
        assertThat(publishes(acl, Clients.client("c1", "bob", "203.0.113.1"), "b"))
                .isTrue();
    }

    @Test
    void anAddressThatIsNotKnownIsInNoAllowedAndInEveryDeniedNetwork() {
        AclFile acl = acl("topic c\naddress 10.0.0.0/8\ntopic a\ntopic deny c\n");
        ClientIdentity client = new ClientIdentity(
                "c1", null, InetSocketAddress.createUnresolved("x", 1), "tcp", ProtocolVersion.MQTT_5, Set.of());

        assertThat(publishes(acl, client, "a")).isFalse();
        assertThat(publishes(acl, client, "c")).isFalse();
    }

    @Test
    void namesAndFiltersMayHoldBlanks() {
        AclFile acl = acl("user  alice smith \n topic  read   living room/lamp\t\r\ntopic deny no entry\n");

        assertThat(receives(acl, Clients.user("alice smith"), "living room/lamp"))
                .isTrue();
        assertThat(acl.decide(Clients.user("alice smith"), AccessAction.PUBLISH, "no entry"))
                .isEqualTo(AccessDecision.DENY);
    }

    @Test
    void wordsOfTheSyntaxCanBeTopics() {
        AclFile acl = acl("topic read\ntopic deny\ntopic write write\n");

        assertThat(publishes(acl, NOBODY, "read") && receives(acl, NOBODY, "deny"))
                .isTrue();
        assertThat(receives(acl, NOBODY, "write")).isFalse();
    }

    @Test
    void aFileWithoutRulesDeniesAllAndSaysSo() {
        AclFile acl = acl("# nothing\nuser alice\n");

        assertThat(publishes(acl, ALICE, "a") || subscribes(acl, NOBODY, "a")).isFalse();
        assertThat(acl.warnings()).singleElement().asString().contains(file.toString(), "no rule");
        assertThat(acl("topic a").warnings()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "topic rea a/b, 'rea'",
        "topic, topic filter",
        "topic read a/#/b, topic filter",
        "topic a+, topic filter",
        "pattern read %c#, topic filter",
        "topic read $share/g/a, $share",
        "user, no name",
        "role, no name",
        "address, no network",
        "address 10.0.0.0/40, '10.0.0.0/40'",
        "address example.com, not a network",
        "tpoic a, 'tpoic'",
    })
    void aMalformedLineIsNamed(String line, String complaint) {
        write("# comment\n\n" + line + "\n");

        assertThatThrownBy(() -> AclFile.read(file))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith(file + ":3: ")
                .hasMessageContaining(complaint);
    }

    @Test
    void everyMalformedLineIsNamedAtOnce() throws IOException {
        write("topci read a\nuser alice\ntopic read a\naddress 10.0.0\ntopic a/#/b\nuser\n");

        assertThatThrownBy(() -> AclFile.read(file))
                .isInstanceOfSatisfying(
                        ConfigurationException.class,
                        refused -> assertThat(refused.problems())
                                .satisfiesExactly(
                                        first -> assertThat(first).startsWith(file + ":1: begins with 'topci'"),
                                        second -> assertThat(second).startsWith(file + ":4: '10.0.0' is not a network"),
                                        third -> assertThat(third).startsWith(file + ":5: has no valid topic filter"),
                                        fourth -> assertThat(fourth).startsWith(file + ":6: has no name after user")));
    }

    @Test
    void ofAFileThatIsNoneOfOursTheFirstLinesAreNamed() throws IOException {
        write("nonsense\n".repeat(1_000));

        assertThatThrownBy(() -> AclFile.read(file))
                .isInstanceOfSatisfying(
                        ConfigurationException.class,
                        refused -> assertThat(refused.problems())
                                .hasSize(101)
                                .last()
                                .asString()
                                .isEqualTo(file + ": has 900 more malformed lines; is this the right file?"));
    }

    @Test
    void aLineThatIsNotUtf8IsNamed() throws IOException {
        Files.write(
                file, new byte[] {'t', 'o', 'p', 'i', 'c', ' ', 'a', '\n', 'u', 's', 'e', 'r', ' ', (byte) 0xC3, '\n'});

        assertThatThrownBy(() -> AclFile.read(file))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith(file + ":2: ");
    }

    @Test
    void aMissingFileAndADirectoryAreErrors(@TempDir Path directory) {
        assertThatThrownBy(() -> AclFile.read(directory.resolve("missing")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("missing");
        assertThatThrownBy(() -> AclFile.read(directory)).isInstanceOf(ConfigurationException.class);
    }

    @Test
    void theExampleOfTheDocumentationDoesWhatItSays() throws IOException {
        String manual = Files.readString(Path.of("..", "docs", "security.md"));
        int start = manual.indexOf("```", manual.indexOf("### Example")) + 3;
        AclFile acl = acl(manual.substring(start, manual.indexOf("```", start)));
        ClientIdentity dashboard = Clients.user("dashboard");
        ClientIdentity inside = Clients.client("c1", "maintenance", "10.1.2.3");
        ClientIdentity outside = Clients.client("c1", "maintenance", "192.0.2.7");

        assertThat(subscribes(acl, NOBODY, "weather/#")).isTrue();
        assertThat(publishes(acl, ALICE, "devices/alice/up/t")).isTrue();
        assertThat(publishes(acl, ALICE, "devices/bob/up/t")).isFalse();
        assertThat(subscribes(acl, dashboard, "devices/#") && subscribes(acl, dashboard, "$SYS/#"))
                .isTrue();
        assertThat(receives(acl, dashboard, "devices/bob/up/secret")).isFalse();
        assertThat(publishes(acl, inside, "x") && receives(acl, outside, "status/x"))
                .isTrue();
        assertThat(publishes(acl, outside, "x")).isFalse();
        assertThat(publishes(acl, Clients.client("c1", null, "192.0.2.7", "operator"), "operations/x"))
                .isTrue();
    }

    @Test
    void anyBytesGiveRulesOrAComplaint() throws IOException {
        Random random = new Random(20_260_714);
        String[] words = {
            "topic ",
            "pattern ",
            "user ",
            "role ",
            "address ",
            "read ",
            "deny ",
            "%c",
            "%u",
            "#",
            "+",
            "/",
            "\n",
            "\r",
            "a",
            "$",
            "10.0.0.0/8 ",
            "\0",
            " ",
            "\t",
            "é"
        };
        int valid = 0;
        for (int i = 0; i < 3_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int j = random.nextInt(12); j >= 0; j--) {
                text.append(words[random.nextInt(words.length)]);
            }
            byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
            if (random.nextInt(10) == 0) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            Files.write(file, bytes);
            try {
                AclFile acl = AclFile.read(file);
                acl.decide(Clients.client("+", "#"), AccessAction.SUBSCRIBE, "a/#");
                valid++;
            } catch (ConfigurationException e) {
                assertThat(e).hasMessageStartingWith(file.toString());
            }
        }
        assertThat(valid).isBetween(100, 2_900);
    }

    private AclFile acl(String text) {
        write(text);
        return AclFile.read(file);
    }

    private void write(String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean publishes(AclFile acl, ClientIdentity client, String topic) {
        return acl.decide(client, AccessAction.PUBLISH, topic) == AccessDecision.ALLOW;
    }

    private static boolean receives(AclFile acl, ClientIdentity client, String topic) {
        return acl.decide(client, AccessAction.RECEIVE, topic) == AccessDecision.ALLOW;
    }

    private static boolean subscribes(AclFile acl, ClientIdentity client, String filter) {
        return acl.decide(client, AccessAction.SUBSCRIBE, filter) == AccessDecision.ALLOW;
    }
}
