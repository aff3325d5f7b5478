// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.access.RuleList;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.ClientIdentity;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Random rule lists, compared with a plain reading of the same rules; and clients with hostile names. */
class AccessRulesFuzzTest {

    private static final int ROUNDS = Integer.getInteger("smqtt.fuzz.rounds", 3_000);
    private static final long SEED = Long.getLong("smqtt.seed", 29);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final InetSocketAddress ADDRESS = new InetSocketAddress("192.0.2.7", 4711);
    private static final String[] LEVELS = {"a", "b", "c1", "ann", "", "$x"};
    private static final String[] PATTERNS = {"a", "b", "+", "${clientid}", "${username}", "x-${clientid}", "", "$x"};
    private static final String[] NAMES = {
        "a/b", "+", "#", "a#", "/", "..", "$x", "${username}", "a\u0000b", "+/+", "", "c1", "%u", "é"
    };

    /** One rule as it is written. */
    private record Written(
            boolean allow, String action, String topic, boolean literal, Set<Integer> qos, Object retain) {

        Map<String, Object> json() {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("permission", allow ? "allow" : "deny");
            json.put("action", action);
            json.put("topic", (literal ? "eq " : "") + topic);
            if (!qos.isEmpty()) {
                json.put("qos", List.copyOf(qos));
            }
            if (retain != null) {
                json.put("retain", retain);
            }
            return json;
        }

        boolean applies(AccessAction asked, int level, boolean retained) {
            boolean publishes = asked == AccessAction.PUBLISH;
            return (action.equals("all") || action.equals(publishes ? "publish" : "subscribe"))
                    && (qos.isEmpty() || qos.contains(level))
                    && (!publishes || retain == null || retain.equals(retained));
        }

        boolean matches(String name) {
            String filter = topic.replace("${clientid}", "c1").replace("${username}", "ann");
            return literal ? filter.equals(name) : AccessRulesFuzzTest.matches(filter, name);
        }
    }

    private static boolean matches(String filter, String name) {
        if (name.startsWith("$") && (filter.startsWith("+") || filter.startsWith("#"))) {
            return false;
        }
        String[] levels = filter.split("/", -1);
        String[] names = name.split("/", -1);
        for (int i = 0; i < levels.length; i++) {
            if (levels[i].equals("#")) {
                return true;
            }
            if (i >= names.length || !(levels[i].equals("+") || levels[i].equals(names[i]))) {
                return false;
            }
        }
        return levels.length == names.length;
    }

    private static String filter(Random random) {
        StringBuilder filter = new StringBuilder(PATTERNS[random.nextInt(PATTERNS.length)]);
        for (int i = random.nextInt(4); i > 0; i--) {
            filter.append('/').append(PATTERNS[random.nextInt(PATTERNS.length)]);
        }
        if (random.nextInt(3) == 0) {
            filter.append("/#");
        }
        return filter.length() == 0 ? "#" : filter.toString();
    }

    private static String name(Random random) {
        StringBuilder name = new StringBuilder(LEVELS[random.nextInt(LEVELS.length)]);
        for (int i = random.nextInt(4); i > 0; i--) {
            name.append('/').append(LEVELS[random.nextInt(LEVELS.length)]);
        }
        return name.length() == 0 ? "a" : name.toString();
    }

    private static Written rule(Random random) {
        Set<Integer> qos =
                random.nextInt(3) > 0 ? Set.of() : random.nextBoolean() ? Set.of(random.nextInt(3)) : Set.of(0, 2);
        Object retain = random.nextInt(4) > 0 ? null : random.nextBoolean();
        String action = new String[] {"publish", "subscribe", "all"}[random.nextInt(3)];
        return new Written(random.nextBoolean(), action, filter(random), random.nextInt(5) == 0, qos, retain);
    }

    private static BackendRequest client(String clientId, String userName) {
        return new BackendRequest(
                clientId, userName, null, ADDRESS, "tcp", ProtocolVersion.MQTT_5, CertificateNames.NONE, Map.of());
    }

    private static ClientIdentity identity(String clientId, String userName) {
        return new ClientIdentity(clientId, userName, ADDRESS, "tcp", ProtocolVersion.MQTT_5, Set.of());
    }

    private static RuleList compile(List<Written> rules, String clientId, String userName) throws Exception {
        String json = JSON.writeValueAsString(rules.stream().map(Written::json).toList());
        return AccessRules.compile(AccessRules.parse(json), client(clientId, userName));
    }

    @Test
    void theFirstRuleThatAppliesDecides() throws Exception {
        ClientIdentity client = identity("c1", "ann");
        for (int round = 0; round < ROUNDS; round++) {
            Random random = new Random(SEED + round);
            List<Written> written = new ArrayList<>();
            for (int i = random.nextInt(8); i >= 0; i--) {
                written.add(rule(random));
            }
            RuleList rules = compile(written, "c1", "ann");
            for (int i = 0; i < 20; i++) {
                String name = name(random);
                AccessAction action = random.nextBoolean() ? AccessAction.PUBLISH : AccessAction.SUBSCRIBE;
                int level = random.nextInt(3);
                boolean retain = random.nextBoolean();
                AccessDecision expected = written.stream()
                        .filter(rule -> rule.applies(action, level, retain) && rule.matches(name))
                        .findFirst()
                        .map(rule -> rule.allow ? AccessDecision.ALLOW : AccessDecision.DENY)
                        .orElse(AccessDecision.CONTINUE);
                assertThat(rules.decide(client, action, name, QoS.of(level), retain))
                        .as(
                                "seed %d: %s %s at QoS %d, retain %s, by %s",
                                SEED + round, action, name, level, retain, written)
                        .isEqualTo(expected);
            }
        }
    }

    @Test
    void whoMaySubscribeToAFilterMayReceiveAllOfIt() throws Exception {
        ClientIdentity client = identity("c1", "ann");
        for (int round = 0; round < ROUNDS; round++) {
            Random random = new Random(SEED + round);
            List<Written> allowed = new ArrayList<>();
            for (int i = random.nextInt(5); i >= 0; i--) {
                allowed.add(new Written(true, "all", filter(random), false, Set.of(), null));
            }
            RuleList rules = compile(allowed, "c1", "ann");
            String asked = filter(random).replace("${clientid}", "c1").replace("${username}", "ann");
            if (rules.decide(client, AccessAction.SUBSCRIBE, asked, QoS.AT_MOST_ONCE, false) == AccessDecision.ALLOW) {
                for (int i = 0; i < 50; i++) {
                    String name = name(random);
                    if (matches(asked, name)) {
                        assertThat(rules.decide(client, AccessAction.RECEIVE, name, QoS.AT_MOST_ONCE, false))
                                .as("seed %d: %s within %s, by %s", SEED + round, name, asked, allowed)
                                .isEqualTo(AccessDecision.ALLOW);
                    }
                }
            }
        }
    }

    @Test
    void noNameOfAClientWidensWhatItMayDoOrNarrowsWhatItMayNot() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            Random random = new Random(SEED + round);
            String clientId = hostile(random);
            ClientIdentity client = identity(clientId, "ann");
            RuleList allows = compile(
                    List.of(new Written(true, "all", "d/${clientid}/x", false, Set.of(), null)), clientId, "ann");
            RuleList denies = compile(
                    List.of(
                            new Written(false, "all", "d/${clientid}/x", random.nextBoolean(), Set.of(), null),
                            new Written(true, "all", "#", false, Set.of(), null)),
                    clientId,
                    "ann");
            for (int i = 0; i < 20; i++) {
                String name = "d/" + (random.nextBoolean() ? hostile(random) : clientId) + "/x";
                boolean own = name.equals("d/" + clientId + "/x");
                for (AccessAction action : AccessAction.values()) {
                    if (allows.decide(client, action, name, QoS.AT_MOST_ONCE, false) == AccessDecision.ALLOW) {
                        assertThat(own)
                                .as("seed %d: %s for %s", SEED + round, name, clientId)
                                .isTrue();
                        assertThat(clientId).as("seed %d", SEED + round).doesNotContain("/", "+", "#");
                    }
                    if (own && !clientId.isEmpty()) {
                        assertThat(denies.decide(client, action, name, QoS.AT_MOST_ONCE, false))
                                .as("seed %d: %s for %s", SEED + round, name, clientId)
                                .isEqualTo(AccessDecision.DENY);
                    }
                }
            }
        }
    }

    private static String hostile(Random random) {
        String name = NAMES[random.nextInt(NAMES.length)];
        return random.nextBoolean() ? name : name + NAMES[random.nextInt(NAMES.length)];
    }

    @Test
    void anyTextIsARuleListOrIsRefused() throws Exception {
        byte[] valid = JSON.writeValueAsBytes(List.of(
                new Written(true, "all", "a/${clientid}/#", false, Set.of(0, 1), true).json(),
                Map.of(
                        "permission",
                        "deny",
                        "topics",
                        List.of("x", "y"),
                        "ipaddr",
                        "10.0.0.0/8",
                        "clientid_re",
                        "^(a|b)+$")));
        String pieces = "{}[]\",:0123456789eE.-+#/$\\()*?tfn ";
        for (int round = 0; round < ROUNDS; round++) {
            Random random = new Random(SEED + round);
            byte[] changed = valid.clone();
            for (int i = random.nextInt(5); i >= 0; i--) {
                changed[random.nextInt(changed.length)] = (byte) pieces.charAt(random.nextInt(pieces.length()));
            }
            try {
                RuleList rules = AccessRules.compile(
                        AccessRules.parse(new String(changed, java.nio.charset.StandardCharsets.UTF_8)),
                        client("c1", "ann"));
                rules.decide(identity("c1", "ann"), AccessAction.PUBLISH, "a/c1/b", QoS.AT_MOST_ONCE, false);
            } catch (IllegalArgumentException e) {
                assertThat(e.getMessage()).as("seed %d", SEED + round).isNotBlank();
            }
        }
    }
}
