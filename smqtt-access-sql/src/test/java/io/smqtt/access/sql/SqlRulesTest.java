// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.access.RuleList;
import io.smqtt.access.RuleList.Actions;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.AccessRules;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.Grants;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SqlRulesTest {

    @Test
    void rowsOfEmqxBecomeRules() {
        List<AccessRule> rules = EmqxSqlBackend.rules(List.of(
                row("permission", "allow", "action", "publish", "topic", "a/${clientid}", "qos", "0,1", "retain", "0"),
                row("permission", "deny", "action", "all", "topic", "eq a/#", "ipaddress", "10.0.0.0/8"),
                row(
                        "permission",
                        "allow",
                        "action",
                        "subscribe",
                        "topic",
                        "b",
                        "ipaddress",
                        "",
                        "qos",
                        "",
                        "retain",
                        null)));

        assertThat(rules).extracting(rule -> rule.rule().allow()).containsExactly(true, false, true);
        assertThat(rules)
                .extracting(rule -> rule.rule().actions())
                .containsExactly(Actions.PUBLISH, Actions.ALL, Actions.SUBSCRIBE);
        assertThat(rules).extracting(rule -> rule.addresses().size()).containsExactly(0, 1, 0);
    }

    @Test
    void columnsAreConditionsAndARuleForAZoneAllowsNothing() {
        List<AccessRule> rules = EmqxSqlBackend.rules(List.of(
                row("permission", "allow", "topic", "a", "clientid_re", "^c", "username_re", "^u", "listener", "tcp"),
                row("permission", "allow", "topic", "b", "zone", "z1"),
                row("permission", "deny", "topic", "c", "zone", "z1"),
                row("permission", "allow", "topic", "d", "zone", "", "id", "7", "username", "ann")));

        assertThat(rules).extracting(rule -> rule.rule().topic()).containsExactly("a", "c", "d");
        assertThat(rules.get(0).clientId()).hasToString("^c");
        assertThat(rules.get(0).userName()).hasToString("^u");
        assertThat(rules.get(0).listener()).isEqualTo("tcp");
    }

    @Test
    void aRowThatIsNoRuleFailsTheWholeList() {
        SqlRow good = row("permission", "allow", "topic", "a");

        assertThatThrownBy(() -> EmqxSqlBackend.rules(List.of(good, row("permission", "1", "topic", "a"))))
                .hasMessage("access rule 2 has a permission that is neither allow nor deny");
        assertThatThrownBy(() -> EmqxSqlBackend.rules(List.of(row("permission", "deny", "topic", ""))))
                .hasMessage("access rule 1 has no topic");
        assertThatThrownBy(() -> EmqxSqlBackend.rules(List.of(row("topic", "a"))))
                .hasMessageContaining("permission");
        assertThatThrownBy(() -> EmqxSqlBackend.rules(Collections.nCopies(1_001, good)))
                .hasMessage("more than 1000 access rules");
    }

    /** The filters of both need not be the same. */
    @Test
    void toSubscribeAndToReceiveAreRightsOfTheirOwnInGoAuth() {
        List<AccessRule> rules =
                GoAuthSqlBackend.rules(Set.of("w/%u"), new LinkedHashSet<>(List.of("r/%c", "rs")), Set.of("rs"));

        assertThat(rules)
                .extracting(rule -> rule.rule().actions() + " " + rule.rule().topic())
                .containsExactly("PUBLISH w/${username}", "SUBSCRIBE rs", "DELIVERY r/${clientid}");
        ClientIdentity client = new ClientIdentity(
                "c",
                "ann",
                new InetSocketAddress("192.0.2.1", 5),
                "tcp",
                ProtocolVersion.MQTT_5,
                Set.of(),
                false,
                Grants.NONE);
        RuleList list = AccessRules.compile(
                GoAuthSqlBackend.rules(Set.of(), Set.of("down/%c"), Set.of("down/#")),
                BackendRequest.of(client, CertificateNames.NONE));
        assertThat(List.of(
                        decided(list, client, AccessAction.SUBSCRIBE, "down/#"),
                        decided(list, client, AccessAction.SUBSCRIBE, "up/#"),
                        decided(list, client, AccessAction.RECEIVE, "down/c"),
                        decided(list, client, AccessAction.RECEIVE, "down/d"),
                        decided(list, client, AccessAction.PUBLISH, "down/c")))
                .containsExactly(true, false, true, false, false);
    }

    private static boolean decided(RuleList list, ClientIdentity client, AccessAction action, String topic) {
        return list.decide(client, action, topic, QoS.AT_LEAST_ONCE, false) == AccessDecision.ALLOW;
    }

    @Test
    void filtersOfGoAuthHaveALimit() {
        Set<String> many = IntStream.range(0, 501).mapToObj(String::valueOf).collect(Collectors.toSet());

        assertThat(GoAuthSqlBackend.rules(many, Set.of(), Set.of())).hasSize(501);
        assertThatThrownBy(() -> GoAuthSqlBackend.rules(many, many, Set.of()))
                .hasMessage("more than 1000 access rules");
    }

    @ParameterizedTest
    @ValueSource(strings = {"t", "true", "1", "3", "-1", "01"})
    void yes(String text) {
        assertThat(SqlRow.isYes(text)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"f", "false", "0", "00", "", "no", "t; DROP"})
    void no(String text) {
        assertThat(SqlRow.isYes(text)).isFalse();
    }

    private static SqlRow row(String... columns) {
        Map<String, String> map = new LinkedHashMap<>();
        for (int i = 0; i < columns.length; i += 2) {
            map.put(columns[i], columns[i + 1]);
        }
        return new SqlRow(map);
    }
}
