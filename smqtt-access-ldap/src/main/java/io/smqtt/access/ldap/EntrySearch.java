// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.ldap;

import com.unboundid.ldap.sdk.DN;
import com.unboundid.ldap.sdk.DereferencePolicy;
import com.unboundid.ldap.sdk.Filter;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.RDN;
import com.unboundid.ldap.sdk.SearchRequest;
import com.unboundid.ldap.sdk.SearchScope;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.backend.Template;
import io.smqtt.access.backend.TemplateValues;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The search for the entry of a client: a base and a filter with placeholders. Placeholders stand only for whole values or parts of values;
 * what a client sends changes neither the structure of the filter nor the number of names in the base. Immutable.
 */
final class EntrySearch {

    private static final String BASE = "base-dn";
    private static final String FILTER = "filter";
    private static final String MARKER = "smqttplaceholder";

    private final Template base;
    private final Template filter;
    private final SearchScope scope;
    private final int seconds;

    private EntrySearch(Template base, Template filter, SearchScope scope, int seconds) {
        this.base = base;
        this.filter = filter;
        this.scope = scope;
        this.seconds = seconds;
    }

    /**
     * Reads the templates.
     *
     * @param settings {@code base-dn}, {@code filter} and {@code scope}
     * @param seconds the time limit of the search at the server
     * @throws io.smqtt.config.ConfigurationException if a template is no name or no filter, or a placeholder stands where no value can
     */
    static EntrySearch of(BackendSettings settings, int seconds) {
        Template base = Objects.requireNonNull(settings.template(BASE, Template.Scope.RULES));
        Template filter = Objects.requireNonNull(settings.template(FILTER, Template.Scope.RULES));
        if (base.isFixed() && filter.isFixed()) {
            throw settings.problem(
                    BASE, "has no placeholder, and filter has none: all clients would have the same entry");
        }
        check(settings, BASE, base, EntrySearch::hasMarkerInNames);
        check(settings, FILTER, filter, text -> hasMarkerInNames(Filter.create(text)));
        SearchScope scope = switch (settings.text("scope")) {
            case "base" -> SearchScope.BASE;
            case "one" -> SearchScope.ONE;
            default -> SearchScope.SUB;
        };
        return new EntrySearch(base, filter, scope, seconds);
    }

    /** Looks for the marker of placeholders where attributes and rules have their names. */
    @FunctionalInterface
    private interface Names {
        boolean hasMarker(String text) throws LDAPException;
    }

    private static void check(BackendSettings settings, String key, Template template, Names names) {
        boolean misplaced;
        try {
            misplaced = names.hasMarker(template.fill(name -> MARKER, LdapEscape::value));
        } catch (LDAPException e) {
            throw settings.problem(key, "cannot be read: " + e.getMessage());
        }
        if (misplaced) {
            throw settings.problem(key, "has a placeholder in the name of an attribute; it can stand only in a value");
        }
    }

    private static boolean hasMarkerInNames(String base) throws LDAPException {
        return Stream.of(new DN(base).getRDNs())
                .map(RDN::getAttributeNames)
                .flatMap(Stream::of)
                .anyMatch(EntrySearch::isMarked);
    }

    private static boolean hasMarkerInNames(Filter filter) {
        Filter negated = filter.getNOTComponent();
        return isMarked(filter.getAttributeName())
                || isMarked(filter.getMatchingRuleID())
                || (negated != null && hasMarkerInNames(negated))
                || Stream.of(filter.getComponents()).anyMatch(EntrySearch::hasMarkerInNames);
    }

    private static boolean isMarked(@Nullable String name) {
        return name != null && name.contains(MARKER);
    }

    /**
     * Makes the search for one client.
     *
     * @param values the values of the client
     * @param attributes the attributes that the server returns
     * @return a request for one entry; null if a value is absent or empty, so that the client cannot have an entry
     * @throws LdapFailedException if the filled-in texts cannot be read
     */
    @Nullable
    SearchRequest request(TemplateValues values, String... attributes) {
        if (lacksValue(base, values) || lacksValue(filter, values)) {
            return null;
        }
        try {
            SearchRequest request = new SearchRequest(
                    base.fill(values, LdapEscape::value),
                    scope,
                    DereferencePolicy.NEVER,
                    1,
                    seconds,
                    false,
                    Filter.create(filter.fill(values, LdapEscape::value)),
                    attributes);
            request.setFollowReferrals(false);
            return request;
        } catch (LDAPException e) {
            throw LdapFailedException.of(e);
        }
    }

    private static boolean lacksValue(Template template, TemplateValues values) {
        return template.parameters(values).stream().anyMatch(value -> value == null || value.isEmpty());
    }
}
