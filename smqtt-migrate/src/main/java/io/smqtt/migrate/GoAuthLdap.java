// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import static io.smqtt.migrate.Rule.differs;
import static io.smqtt.migrate.Rule.none;
import static io.smqtt.migrate.Rule.same;

import java.net.URI;
import java.util.List;
import java.util.Map;

/**
 * The options of mosquitto-go-auth for a directory, as a backend of the type ldap. It checks users only: the plugin has topics in the entries of groups, and this
 * broker in those of users.
 */
final class GoAuthLdap {

    static final String PREFIX = "access.backends.ldap.";

    private static final String NAME = "%s";
    private static final List<String> REQUIRED =
            List.of("ldap_user_dn", "ldap_bind_dn", "ldap_bind_password", "ldap_user_filter");

    private final Draft draft;
    private final Map<String, OldSetting> options;

    GoAuthLdap(Draft draft, Map<String, OldSetting> options) {
        this.draft = draft;
        this.options = options;
    }

    static List<Rule<GoAuth>> rules() {
        return List.of(
                same("auth_opt_ldap_url", "access.backends.<name>.url", GoAuth.taken()),
                same("auth_opt_ldap_user_dn", "access.backends.<name>.base-dn", GoAuth.taken()),
                same("auth_opt_ldap_bind_dn", "access.backends.<name>.bind-dn", GoAuth.taken()),
                new Rule<>(
                        "auth_opt_ldap_bind_password",
                        Outcome.SAME,
                        "access.backends.<name>.bind-password-file",
                        "written to a file for its owner only",
                        GoAuth.taken()),
                same("auth_opt_ldap_user_filter", "access.backends.<name>.filter", GoAuth.taken()),
                differs(
                        "auth_opt_ldap_superuser_filter",
                        "access.backends.<name>.superuser-attribute",
                        "superusers are the users whose entry has this attribute with the value true; without it there are none",
                        GoAuth.taken()),
                none(
                        "auth_opt_ldap_*",
                        "topics are in the entry of the user, not in those of groups: publish-attribute, subscribe-attribute and all-attribute, with checks user,acl; or in access.acl-file"));
    }

    /**
     * Writes the backend, without the keys that all backends have.
     *
     * @param from the list of backends
     * @return false if options are absent or cannot be used; a note says which
     */
    boolean write(OldSetting from) {
        for (String option : REQUIRED) {
            if (text(option).isEmpty()) {
                draft.note(from, Outcome.NONE, PREFIX + "type: needs auth_opt_" + option);
                return false;
            }
        }
        String filter = text("ldap_user_filter");
        if (filter.replace(NAME, "").length() != filter.length() - NAME.length() || filter.contains("${")) {
            draft.note(from, Outcome.NONE, PREFIX + "filter: must have %s for the user name, once");
            return false;
        }
        String url = options.containsKey("ldap_url") ? text("ldap_url") : "ldap://localhost:389";
        if (!isServer(url)) {
            draft.note(from, Outcome.NONE, PREFIX + "url: must be ldap://HOST:PORT or ldaps://HOST:PORT");
            return false;
        }
        draft.set(PREFIX + "type", "ldap", from);
        draft.set(PREFIX + "url", url, options.getOrDefault("ldap_url", from));
        draft.set(PREFIX + "base-dn", text("ldap_user_dn"), of("ldap_user_dn"));
        draft.set(PREFIX + "bind-dn", text("ldap_bind_dn"), of("ldap_bind_dn"));
        draft.set(PREFIX + "filter", filter.replace(NAME, "${username}"), of("ldap_user_filter"));
        draft.privateFile(
                PREFIX + "bind-password-file", "ldap.password", text("ldap_bind_password"), of("ldap_bind_password"));
        draft.note(from, Outcome.DIFFERENT, PREFIX + "type: an extension, lib/ext/ldap");
        return true;
    }

    /** The plugin lets every user do everything if no attribute has topics; otherwise topics are in groups. */
    void onlyUsers(OldSetting from) {
        draft.set(PREFIX + "checks", "user", from);
        draft.note(
                from,
                Outcome.DIFFERENT,
                PREFIX
                        + "checks: it checks users only; write what they may do into access.acl-file, without it nothing is allowed");
    }

    private static boolean isServer(String url) {
        try {
            URI uri = URI.create(url);
            return ("ldap".equals(uri.getScheme()) || "ldaps".equals(uri.getScheme()))
                    && uri.getHost() != null
                    && uri.getUserInfo() == null
                    && uri.getQuery() == null
                    && uri.getPath().length() <= 1;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private OldSetting of(String option) {
        OldSetting setting = options.get(option);
        if (setting == null) {
            throw new IllegalStateException(option);
        }
        return setting;
    }

    private String text(String option) {
        OldSetting setting = options.get(option);
        return setting == null ? "" : setting.value().strip();
    }
}
