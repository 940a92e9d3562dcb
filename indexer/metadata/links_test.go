package metadata

import (
	"strings"
	"testing"
)

func TestCleanWebsite(t *testing.T) {
	t.Parallel()
	for _, tt := range [][2]string{
		{"https://a.example", "https://a.example"},
		{" https://A.Example./Path/?q=1&r=2#part ", "https://a.example/Path/?q=1&r=2#part"},
		{"http://a.example:80/x", "http://a.example/x"},
		{"https://a.example:8443/x", "https://a.example:8443/x"},
		{"a.example/x", "https://a.example/x"},
		{"www.a.example", "https://www.a.example"},
		{"//a.example/x", "https://a.example/x"},
		{"https://bücher.example/ü?ü#ü", "https://xn--bcher-kva.example/%C3%BC?%C3%BC#%C3%BC"},
		{"https://аррӏе.example", "https://xn--80ak6aa92e.example"}, // Cyrillic shows as what it is
		{"https://a.example/%2e%2e/%00", "https://a.example/%2e%2e/%00"},
		{"https://a.example/" + strings.Repeat("a", maxLink), ""},
		{"https://a.example/" + strings.Repeat("ü", 200), ""}, // too long once escaped
		{"javascript:alert(1)", ""},
		{"javascript://a.example/%0aalert(1)", ""},
		{"JaVaScRiPt:alert(1)//a.example", ""},
		{"data:text/html,<script>", ""},
		{"data:text/html;base64,PHNjcmlwdD4=", ""},
		{"vbscript:x", ""},
		{"file:///etc/passwd", ""},
		{"ftp://a.example", ""},
		{"mailto:a@a.example", ""},
		{"https://user:pass@a.example", ""},
		{"https://user@a.example", ""},
		{"https://a.example@evil.example", ""},
		{"a.example@evil.example/x", ""},
		{"https://a.example\\@evil.example", ""},
		{"https://a.example/\u202egnp.exe", ""},
		{"https://a.example/\u2066x", ""},
		{"https://a.exa\u200bmple", ""},
		{"https://a.example/\x00", ""},
		{"https://a.example/\r\nSet-Cookie:a=b", ""},
		{"https://a.example/ x", ""},
		{"https://a.example/\"onload=x", ""},
		{"https://a.example/<script>", ""},
		{"https://localhost/", ""},
		{"https://localhost.localdomain.localhost", ""},
		{"https://router.lan/", ""},
		{"https://kubernetes.default.svc.cluster.local/", ""},
		{"https://metadata.google.internal/", ""},
		{"https://127.0.0.1/", ""},
		{"https://8.8.8.8/", ""},
		{"https://2130706433/", ""},
		{"https://0x7f.1/", ""},
		{"https://[::1]/", ""},
		{"https://[2606:4700::1111]/", ""},
		{"https:///x", ""},
		{"https://", ""},
		{"https://a.example:0", ""},
		{"https://a_b.example", "https://a_b.example"},
		{"none", ""},
		{"n/a", ""},
		{"", ""},
	} {
		if got := cleanWebsite(tt[0]); got != tt[1] {
			t.Errorf("%q became %q, want %q", tt[0], got, tt[1])
		}
	}
}

func TestCleanX(t *testing.T) {
	t.Parallel()
	for _, tt := range [][2]string{
		{"handle_1", "https://x.com/handle_1"},
		{" @Handle ", "https://x.com/Handle"},
		{"https://x.com/handle", "https://x.com/handle"},
		{"http://www.twitter.com/handle/?lang=en#x", "https://x.com/handle"},
		{"https://mobile.twitter.com/@handle", "https://x.com/handle"},
		{"twitter.com/handle", "https://x.com/handle"},
		{"x.com/handle/status/123/photo/1", "https://x.com/handle/status/123"},
		{"https://x.com/handle/with_replies", "https://x.com/handle"},
		{"https://x.com/i/communities/123", "https://x.com/i/communities/123"},
		{"https://x.com/i/communities/123/about", "https://x.com/i/communities/123"},
		{"https://x.com/i/flow/login", ""},
		{"https://x.com/intent/follow?screen_name=a", ""},
		{"https://x.com/search?q=a", ""},
		{"https://x.com/handle/status/abc", "https://x.com/handle"},
		{"https://x.com/", ""},
		{"https://x.com", ""},
		{"https://x.com.evil.example/handle", ""},
		{"https://evil.example/x.com/handle", ""},
		{"https://notx.com/handle", ""},
		{"https://x.com:8443/handle", ""},
		{"https://u:p@x.com/handle", ""},
		{"https://x.com@evil.example/handle", ""},
		{"https://t.me/handle", ""},
		{"javascript:alert(1)", ""},
		{"handle\u202e", ""},
		{"händle", ""},
		{"sixteen_letters_", ""},
		{"two words", ""},
		{"@", ""},
		{"", ""},
	} {
		if got := cleanX(tt[0]); got != tt[1] {
			t.Errorf("%q became %q, want %q", tt[0], got, tt[1])
		}
	}
}

func TestCleanTelegram(t *testing.T) {
	t.Parallel()
	for _, tt := range [][2]string{
		{"chat_name", "https://t.me/chat_name"},
		{"@Chat", "https://t.me/Chat"},
		{"t.me/chat", "https://t.me/chat"},
		{"http://telegram.me/chat?start=1", "https://t.me/chat"},
		{"https://telegram.dog/chat/", "https://t.me/chat"},
		{"https://t.me/chat/15", "https://t.me/chat/15"},
		{"https://t.me/s/chat", "https://t.me/chat"},
		{"https://t.me/s/chat/15", "https://t.me/chat/15"},
		{"https://t.me/+AbCdEf_12345-6", "https://t.me/+AbCdEf_12345-6"},
		{"https://t.me/joinchat/AbCdEf_12345-6", "https://t.me/+AbCdEf_12345-6"},
		{"https://t.me/joinchat", ""},
		{"https://t.me/+x", ""},
		{"https://t.me/proxy?server=a&port=1", ""},
		{"https://t.me/socks?server=a", ""},
		{"https://t.me/share/url?url=a", ""},
		{"https://t.me/addstickers/x", ""},
		{"https://t.me/s", ""},
		{"https://t.me/", ""},
		{"https://t.me.evil.example/chat", ""},
		{"https://evil.example/chat", ""},
		{"https://u@t.me/chat", ""},
		{"tg://resolve?domain=chat", ""},
		{"https://x.com/chat", ""},
		{"abc", ""},
		{"1chat", ""},
		{"chat name", ""},
		{strings.Repeat("a", 33), ""},
		{"", ""},
	} {
		if got := cleanTelegram(tt[0]); got != tt[1] {
			t.Errorf("%q became %q, want %q", tt[0], got, tt[1])
		}
	}
}
