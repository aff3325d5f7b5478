// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.access.backend.Template.Scope;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TemplateTest {

    static final BackendRequest CLIENT = new BackendRequest(
            "c/1",
            "ann",
            "p w".getBytes(StandardCharsets.UTF_8),
            new InetSocketAddress("192.0.2.7", 4711),
            "tcp",
            ProtocolVersion.MQTT_5,
            new CertificateNames("CN=ann,O=x", "ann"),
            Map.of("site", "s1"));

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "${username}|ann",
                "a${clientid}b${clientid}|ac/1bc/1",
                "${password}|p w",
                "${peerhost}:${peerport}|192.0.2.7:4711",
                "${cert_common_name} ${cert_subject}|ann CN=ann,O=x",
                "${listener} ${proto_name}|tcp MQTT",
                "${client_attrs.site}${client_attrs.none}|s1",
                "$ %u {username} 100%|$ %u {username} 100%",
            })
    void placeholdersAreReplaced(String template, String expected) {
        assertThat(Template.parse(template, Scope.USER).fill(CLIENT, value -> value))
                .isEqualTo(expected);
    }

    @Test
    void percentFormsAreReplacedWhereTheyAreAllowed() {
        Template template = Template.parseWithPercent("u=%u c=%c 100%% %x ${username}", Scope.RULES);

        assertThat(template.fill(CLIENT, value -> value)).isEqualTo("u=ann c=c/1 100% %x ann");
    }

    @Test
    void onlyValuesAreEscaped() {
        assertThat(Template.parse("a/${clientid}/b", Scope.USER).fill(CLIENT, value -> value.replace("/", "%2F")))
                .isEqualTo("a/c%2F1/b");
    }

    @Test
    void topicsHaveTheValuesOfTheAction() {
        TopicRequest request = new TopicRequest(CLIENT, AccessAction.PUBLISH, "a/b", QoS.AT_LEAST_ONCE, true);

        assertThat(Template.parse("${action} ${access} ${topic} ${qos} ${retain} ${username}", Scope.TOPIC)
                        .fill(request, value -> value))
                .isEqualTo("publish 2 a/b 1 true ann");
    }

    @ParameterizedTest
    @ValueSource(strings = {"${cert_subject}", "${cert_common_name}", "${cert_pem}"})
    void requestsAboutTopicsHaveNoCertificate(String template) {
        assertThatThrownBy(() -> Template.parse(template, Scope.TOPIC))
                .hasMessage("has the placeholder " + template + " that has no value here");
        assertThat(Template.parse(template, Scope.RULES).isFixed()).isFalse();
    }

    @Test
    void aCertificateIsSentAsItsOwnerHasIt() throws Exception {
        String pem = certificate();
        X509Certificate certificate = (X509Certificate) CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)));
        CertificateNames names = CertificateNames.of(certificate);

        assertThat(names.pem()).isEqualTo(pem);
        assertThat(names.commonName()).isEqualTo("ann");
        assertThat(CertificateNames.NONE.pem()).isNull();
    }

    private static String certificate() throws IOException {
        try (InputStream file =
                Objects.requireNonNull(TemplateTest.class.getResourceAsStream("/io/smqtt/access/client.pem"))) {
            return new String(file.readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    @Test
    void statementsGetParameters() {
        Template template = Template.parse("SELECT x WHERE u = ${username} AND a = ${client_attrs.none}", Scope.RULES);

        assertThat(template.statement(number -> "$" + number)).isEqualTo("SELECT x WHERE u = $1 AND a = $2");
        assertThat(template.parameters(CLIENT)).containsExactly("ann", null);
    }

    @ParameterizedTest
    @ValueSource(strings = {"${usrname}", "${client_attrs.}", "${}", "${username", "${topic}", "${zone}"})
    void unknownPlaceholdersAreRejected(String template) {
        assertThatThrownBy(() -> Template.parse(template, Scope.USER)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void thePasswordIsKnownOnlyWhereThereIsOne() {
        assertThatThrownBy(() -> Template.parse("${password}", Scope.RULES))
                .hasMessage("has the placeholder ${password} that has no value here");
        assertThatThrownBy(() -> Template.parse("${password}", Scope.TOPIC)).isInstanceOf(RuntimeException.class);
    }

    /** An application with Spring leaves these to the broker. */
    @Test
    void theConfigurationKnowsAllPlaceholders() {
        Set<String> known = new HashSet<>(Template.CLIENT);
        known.addAll(Template.ACTION);
        known.add("password");

        assertThat(AccessBackendConfig.PLACEHOLDERS).containsExactlyInAnyOrderElementsOf(known);
    }
}
