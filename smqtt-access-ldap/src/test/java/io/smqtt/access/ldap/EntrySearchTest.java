// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.ldap;

import static org.assertj.core.api.Assertions.assertThat;

import com.unboundid.ldap.sdk.Filter;
import com.unboundid.ldap.sdk.SearchRequest;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.config.ConfigValue;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import javax.naming.NamingException;
import javax.naming.directory.Attributes;
import javax.naming.ldap.LdapName;
import org.junit.jupiter.api.Test;

/** Searches with user names of all kinds, read by the JDK's parser of names and the SDK's parser of filters. */
class EntrySearchTest {

    private static final int ROUNDS = Integer.getInteger("smqtt.ldap.fuzz", 20_000);
    private static final String SPECIAL = "*()\\\0,+\"<>;=#&|!~: /éß€\uD83D\uDE00abAB09\n\r\t";

    private final EntrySearch search = search(
            "uid=${username}+cn=x${clientid}y,ou=devices,dc=example,dc=org",
            "(&(objectClass=mqttUser)(|(uid=${username})(mail=${clientid}@*)(!(cn:caseExactMatch:=${username}))))");

    private static EntrySearch search(String base, String filter) {
        Map<String, ConfigValue> values = Map.of(
                "url", new ConfigValue("ldap://127.0.0.1", "", Path.of("")),
                "base-dn", new ConfigValue(base, "", Path.of("")),
                "filter", new ConfigValue(filter, "", Path.of("")));
        return EntrySearch.of(BackendSettings.of("directory", new LdapBackendFactory().settings(), values), 5);
    }

    @Test
    void aValueStaysOneValueWhateverItHas() throws NamingException {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int i = 0; i < ROUNDS; i++) {
            String user = text(random);
            String client = text(random);
            SearchRequest request =
                    Objects.requireNonNull(search.request(Map.of("username", user, "clientid", client)::get));

            LdapName base = new LdapName(request.getBaseDN());
            assertThat(base.size()).as("seed %d", seed).isEqualTo(4);
            assertThat(base.getPrefix(3)).hasToString("ou=devices,dc=example,dc=org");
            Attributes own = base.getRdn(3).toAttributes();
            assertThat(own.size()).as("seed %d", seed).isEqualTo(2);
            // the parser of the JDK drops spaces and carriage returns beside others, also if they are escaped
            assertThat(spaceless(own.get("uid").get())).as("seed %d", seed).isEqualTo(spaceless(user));
            assertThat(own.get("cn").get()).as("seed %d", seed).isEqualTo("x" + client + "y");

            Filter either = request.getFilter().getComponents()[1];
            assertThat(request.getFilter().getComponents()).as("seed %d", seed).hasSize(2);
            assertThat(either.getComponents()).as("seed %d", seed).hasSize(3);
            assertThat(either.getComponents()[0]).isEqualTo(Filter.createEqualityFilter("uid", user));
            assertThat(either.getComponents()[1].getSubInitialString()).isEqualTo(client + "@");
            assertThat(either.getComponents()[1].getSubAnyStrings()).isEmpty();
            assertThat(either.getComponents()[2].getNOTComponent().getAssertionValue())
                    .isEqualTo(user);
        }
    }

    private static String spaceless(Object value) {
        return value.toString().replaceAll("\\s+", "");
    }

    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int length = 1 + random.nextInt(8); length > 0; length--) {
            int index = SPECIAL.offsetByCodePoints(0, random.nextInt(SPECIAL.codePointCount(0, SPECIAL.length())));
            text.appendCodePoint(SPECIAL.codePointAt(index));
        }
        return text.toString();
    }

    @Test
    void aClientWithoutTheValueHasNoEntry() {
        assertThat(search.request(Map.of("clientid", "c1")::get)).isNull();
        assertThat(search.request(Map.of("clientid", "c1", "username", "")::get))
                .isNull();
    }

    @Test
    void oneEntryIsAskedFor() {
        SearchRequest request =
                Objects.requireNonNull(search.request(Map.of("username", "ann", "clientid", "c1")::get, "isSuperuser"));

        assertThat(request.getSizeLimit()).isEqualTo(1);
        assertThat(request.getTimeLimitSeconds()).isEqualTo(5);
        assertThat(request.getAttributeList()).containsExactly("isSuperuser");
        assertThat(request.getBaseDN()).isEqualTo("uid=ann+cn=xc1y,ou=devices,dc=example,dc=org");
    }
}
