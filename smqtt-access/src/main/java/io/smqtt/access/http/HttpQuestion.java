// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.http;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.backend.Template;
import io.smqtt.access.backend.TemplateValues;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A request with placeholders. Values are encoded for the place where they stand. Immutable. */
final class HttpQuestion {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String FORM = "application/x-www-form-urlencoded";
    private static final String CONTENT_TYPE = "content-type";

    private final boolean get;
    private final String server;
    private final Template path;
    private final Map<String, Template> headers;
    private final Map<String, Template> fields;
    private final boolean form;

    private HttpQuestion(
            boolean get,
            String server,
            Template path,
            Map<String, Template> headers,
            Map<String, Template> fields,
            boolean form) {
        this.get = get;
        this.server = server;
        this.path = path;
        this.headers = headers;
        this.fields = fields;
        this.form = form;
    }

    /**
     * A request with the values of its placeholders.
     *
     * @param get whether it is a GET, otherwise a POST
     * @param url the URL
     * @param headers the headers
     * @param body the body, or null
     */
    record Filled(
            boolean get,
            String url,
            Map<String, String> headers,
            @Nullable String body) {

        /** Without headers and body, which have secrets. */
        @Override
        public String toString() {
            return (get ? "GET " : "POST ") + url;
        }
    }

    /** Reads a request in the style of EMQX: the keys url, method, headers and body, behind a prefix. */
    static HttpQuestion emqx(
            BackendSettings settings, String prefix, Template.Scope scope, Map<String, String> standard) {
        String urlKey = prefix + "url";
        String url = settings.text(urlKey);
        boolean get = settings.text(prefix + "method").equals("get");
        Map<String, Template> headers = new LinkedHashMap<>();
        settings.templates(prefix + "headers", scope)
                .forEach((name, value) -> headers.put(name.toLowerCase(Locale.ROOT), value));
        headers.forEach((name, value) -> {
            if (get && name.equals(CONTENT_TYPE)) {
                throw settings.problem(
                        prefix + "headers." + name, "cannot be set for a GET, which has no body; remove it");
            }
        });
        Map<String, Template> fields = settings.templates(prefix + "body", scope);
        if (fields.isEmpty()) {
            standard.forEach((name, value) -> fields.put(name, Template.parse(value, scope)));
        }
        String server = server(settings, urlKey, url);
        Template type = headers.get(CONTENT_TYPE);
        boolean form = type != null
                && type.parts().stream().anyMatch(part -> part.text().startsWith(FORM));
        return new HttpQuestion(
                get, server, path(settings, urlKey, url.substring(server.length()), scope), headers, fields, form);
    }

    /** Reads a request in the style of mosquitto-go-auth: a path behind the URL of the server, and fields of its own. */
    static HttpQuestion goAuth(
            BackendSettings settings, String uriKey, Template.Scope scope, Map<String, String> fields) {
        String url = settings.text("url");
        String server = server(settings, "url", url);
        Map<String, Template> templates = new LinkedHashMap<>();
        fields.forEach((name, value) -> templates.put(name, Template.parse(value, scope)));
        String path = url.substring(server.length()).replaceAll("/$", "") + settings.text(uriKey);
        return new HttpQuestion(
                false,
                server,
                path(settings, uriKey, path, scope),
                settings.templates("headers", scope),
                templates,
                settings.text("params-mode").equals("form"));
    }

    /** Scheme, host and port, which are never made of values of clients. */
    private static String server(BackendSettings settings, String key, String url) {
        int begin = url.indexOf("://");
        int slash = begin < 0 ? -1 : url.indexOf('/', begin + 3);
        int query = begin < 0 ? -1 : url.indexOf('?', begin + 3);
        int end = slash < 0 ? query : query < 0 ? slash : Math.min(slash, query);
        String server = end < 0 ? url : url.substring(0, end);
        if (server.contains("${")) {
            throw settings.problem(
                    key, "has a placeholder in its host: a client could choose the server; write the host itself");
        }
        try {
            URI uri = new URI(server);
            boolean http = "http".equalsIgnoreCase(uri.getScheme()) || "https".equalsIgnoreCase(uri.getScheme());
            if (!http || uri.getHost() == null || uri.getRawUserInfo() != null || uri.getRawFragment() != null) {
                throw settings.problem(
                        key,
                        "must begin with http:// or https:// and a host, without a user; a user goes into headers.authorization");
            }
        } catch (URISyntaxException e) {
            throw settings.problem(key, "must be a URL");
        }
        return server;
    }

    private static Template path(BackendSettings settings, String key, String path, Template.Scope scope) {
        try {
            return Template.parse(path.isEmpty() ? "/" : path.startsWith("?") ? "/" + path : path, scope);
        } catch (IllegalArgumentException e) {
            throw settings.problem(key, String.valueOf(e.getMessage()));
        }
    }

    boolean isTls() {
        return server.toLowerCase(Locale.ROOT).startsWith("https:");
    }

    /**
     * Whether a value would become or contain a path segment of one or two dots, by which a client could choose another path of the server.
     * No encoding prevents that, because servers may decode before they resolve; some take a backslash for a slash.
     */
    boolean leavesPath(TemplateValues values) {
        if (path.isFixed()) {
            return false;
        }
        String filled = path.fill(values, value -> value.replace('?', '_').replace('\\', '/'));
        int query = filled.indexOf('?');
        for (String segment : (query < 0 ? filled : filled.substring(0, query)).split("/", -1)) {
            if (segment.equals(".") || segment.equals("..")) {
                return true;
            }
        }
        return false;
    }

    Filled fill(TemplateValues values) {
        Map<String, String> filled = new LinkedHashMap<>();
        headers.forEach((name, value) -> filled.put(name, value.fill(values, HttpQuestion::visible)));
        String url = server + path.fill(values, HttpQuestion::encode);
        if (get) {
            String query = form(values);
            String join = query.isEmpty() ? "" : url.indexOf('?') < 0 ? "?" : "&";
            return new Filled(true, url + join + query, filled, null);
        }
        filled.putIfAbsent(CONTENT_TYPE, form ? FORM : "application/json");
        return new Filled(false, url, filled, form ? form(values) : json(values));
    }

    private String form(TemplateValues values) {
        return fields.entrySet().stream()
                .map(field ->
                        encode(field.getKey()) + "=" + encode(field.getValue().fill(values, value -> value)))
                .collect(Collectors.joining("&"));
    }

    private String json(TemplateValues values) {
        ObjectNode body = JSON.createObjectNode();
        fields.forEach((name, template) -> {
            String value = template.fill(values, text -> text);
            boolean number = name.equals("acc") && template.parts().size() == 1 && template.uses("access");
            if (number) {
                body.put(name, Integer.parseInt(value));
            } else {
                body.put(name, value);
            }
        });
        return body.toString();
    }

    private static String encode(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** A header has no line ends, and only ASCII: everything else is percent-encoded. */
    private static String visible(String value) {
        boolean plain = value.chars().allMatch(c -> c >= ' ' && c < 0x7f);
        return plain ? value : encode(value);
    }
}
