// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.access.RuleList;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.ClientIdentity;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AccessRulesTest {

    private static final BackendRequest CLIENT = new BackendRequest(
            "c1",
            "ann",
            null,
            TemplateTest.CLIENT.remoteAddress(),
            "tcp",
            ProtocolVersion.MQTT_5,
            CertificateNames.NONE,
            TemplateTest.CLIENT.attributes());
    private static final ClientIdentity IDENTITY = new ClientIdentity(
            "c1", "ann", TemplateTest.CLIENT.remoteAddress(), "tcp", ProtocolVersion.MQTT_5, Set.of());

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "[{'permission':'allow','action':'publish','topic':'a/#'}]; PUBLISH; a/b; ALLOW",
                "[{'permission':'allow','action':'publish','topic':'a/#'}]; SUBSCRIBE; a/b; CONTINUE",
                "[{'permission':'allow','action':'pub','topic':'a/#'}]; PUBLISH; a; ALLOW",
                "[{'permission':'allow','action':'sub','topic':'a/#'}]; RECEIVE; a/b; ALLOW",
                "[{'permission':'allow','action':'pubsub','topic':'a'}]; SUBSCRIBE; a; ALLOW",
                "[{'permission':'deny','topic':'a'}]; PUBLISH; a; DENY",
                "[{'permission':'deny','topic':'a'},{'permission':'allow','topic':'#'}]; PUBLISH; a; DENY",
                "[{'permission':'allow','topic':'#'},{'permission':'deny','topic':'a'}]; PUBLISH; a; ALLOW",
                "[{'permission':'allow','topics':['a','b']}]; PUBLISH; b; ALLOW",
                "[{'permission':'allow','topic':'eq a/#'}]; SUBSCRIBE; a/#; ALLOW",
                "[{'permission':'allow','topic':'eq a/#'}]; SUBSCRIBE; a/b; CONTINUE",
                "[{'permission':'allow','topic':'d/${clientid}/${client_attrs.site}'}]; PUBLISH; d/c1/s1; ALLOW",
                "[{'permission':'allow','topic':'d/${client_attrs.none}'}]; PUBLISH; d/; CONTINUE",
                "[{'permission':'allow','topic':'a','qos':'0,2'}]; PUBLISH; a; CONTINUE",
                "[{'permission':'allow','topic':'a','qos':[0,1]}]; PUBLISH; a; ALLOW",
                "[{'permission':'allow','topic':'a','qos':1}]; PUBLISH; a; ALLOW",
                "[{'permission':'allow','topic':'a','retain':1}]; PUBLISH; a; CONTINUE",
                "[{'permission':'allow','topic':'a','retain':false}]; PUBLISH; a; ALLOW",
                "[{'permission':'allow','topic':'a','retain':'all'}]; PUBLISH; a; ALLOW",
                "[{'permission':'allow','topic':'a','clientid_re':'^c'}]; PUBLISH; a; ALLOW",
                "[{'permission':'allow','topic':'a','clientid_re':'^d'}]; PUBLISH; a; CONTINUE",
                "[{'permission':'allow','topic':'a','username_re':'nn$'}]; PUBLISH; a; ALLOW",
                "[{'permission':'allow','topic':'a','ipaddr':'192.0.2.0/24'}]; PUBLISH; a; ALLOW",
                "[{'permission':'allow','topic':'a','ipaddr':'10.0.0.1'}]; PUBLISH; a; CONTINUE",
                "[{'permission':'allow','topic':'a','listener':'ws'}]; PUBLISH; a; CONTINUE",
                "[{'permission':'allow','topic':'a','zone':'z1'}]; PUBLISH; a; CONTINUE",
                "[{'permission':'allow','topics':['a','b'],'zone':'z1'},{'permission':'allow','topic':'b'}]; PUBLISH; b; ALLOW",
                "[{'permission':'deny','topic':'a','zone':'z1'},{'permission':'allow','topic':'#'}]; PUBLISH; a; DENY",
                "[{'permission':'deny','topic':'a','zone':'z1','clientid_re':'^d'},{'permission':'allow','topic':'#'}]; PUBLISH; a; ALLOW",
                "[{'permission':'allow','topic':'a','zone':null}]; PUBLISH; a; ALLOW",
                "[{'permission':'allow','topic':'a','unknown':1}]; PUBLISH; a; CONTINUE",
                "[{'permission':'deny','topic':'a','unknown':1}]; PUBLISH; a; DENY",
                "[]; PUBLISH; a; CONTINUE",
            })
    void rulesDecide(String json, AccessAction action, String topic, String expected) {
        RuleList rules = AccessRules.compile(AccessRules.parse(json.replace('\'', '"')), CLIENT);

        assertThat(rules.decide(IDENTITY, action, topic, QoS.AT_LEAST_ONCE, false))
                .hasToString(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "[{'permission':'maybe','topic':'a'}]; access rule 1 has a permission that is neither allow nor deny",
                "[{'permission':'allow'}]; access rule 1 has no topic",
                "[{'permission':'allow','topic':5}]; access rule 1 has a topic that is no text",
                "[{'permission':'allow','topic':'a','action':'x'}]; access rule 1 has an action that is not publish, subscribe or all",
                "[{'permission':'allow','topic':'a','qos':3}]; access rule 1 has a QoS that is not 0, 1 or 2",
                "[{'permission':'allow','topic':'a','qos':[]}]; access rule 1 has no QoS",
                "[{'permission':'allow','topic':'a','retain':2}]; access rule 1 has a retain flag that is not 0, 1, true, false or all",
                "[{'permission':'allow','topic':'a','clientid_re':'('}]; access rule 1 has a regular expression that RE2 does not accept",
                "[{'permission':'allow','topic':'a','ipaddr':'x'}]; access rule 1 has an ipaddr that is no network",
                "[{'permission':'allow','topic':'a','zone':'z'},{'permission':'allow'}]; access rule 2 has no topic",
                "[{'permission':'allow','topic':'a','clientid_re':['x']}]; access rule 1 has a field clientid_re that is no text",
                "[{'permission':'allow','topic':'a','listener':{}}]; access rule 1 has a field listener that is no text",
                "[{'permission':'allow','topic':5,'zone':'z'}]; access rule 1 has a topic that is no text",
                "[1]; access rule 1 is no object",
                "{}; the access rules are no list",
                "[; the access rules are no JSON",
            })
    void wrongRulesMakeTheListUnusable(String json, String expected) {
        assertThatThrownBy(() -> AccessRules.parse(json.replace('\'', '"')))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(expected);
    }

    @Test
    void aWrongTopicFilterMakesTheListUnusable() {
        assertThatThrownBy(() -> AccessRules.compile(
                        AccessRules.parse("[{\"permission\":\"allow\",\"topic\":\"a/#/b\"}]"), CLIENT))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void rowsAndFiltersOfOtherPluginsBecomeRules() {
        RuleList rules = AccessRules.compile(
                java.util.List.of(
                        AccessRules.of("deny", "publish", "x", "0", "1", "192.0.2.7"),
                        AccessRule.allowWithPercent(RuleList.Actions.ALL, "u/%u/c/%c")),
                CLIENT);

        assertThat(rules.decide(IDENTITY, AccessAction.PUBLISH, "x", QoS.AT_MOST_ONCE, true))
                .hasToString("DENY");
        assertThat(rules.decide(IDENTITY, AccessAction.PUBLISH, "u/ann/c/c1", QoS.AT_MOST_ONCE, false))
                .hasToString("ALLOW");
    }
}
