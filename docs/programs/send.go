// Sends one reading and a batch, and repeats what can pass later. Needs Go 1.18 or later, and no module.
//
//	CELLARBOOK_URL=https://cellars.example CELLARBOOK_KEY=clr_… CELLARBOOK_CELLAR=wine-berlin go run send.go
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	mathrand "math/rand"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	triesMax   = 8
	backoffMax = 60
	answerMax  = 1 << 20
)

type reading struct {
	Cellar    string    `json:"cellar"`
	Rack      string    `json:"rack"`
	Keg       string    `json:"keg"`
	Value     float64   `json:"value"`
	Timestamp time.Time `json:"timestamp"`
}

type batch struct {
	Readings []reading `json:"readings"`
}

type sender struct {
	client  *http.Client
	baseURL string
	key     string
	second  time.Duration
	chance  *mathrand.Rand
}

func newSender() (*sender, error) {
	second := time.Second
	// Tests make the second shorter.
	if text := os.Getenv("CELLARBOOK_SECOND_MS"); text != "" {
		ms, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("CELLARBOOK_SECOND_MS: %w", err)
		}
		second = time.Duration(ms) * time.Millisecond
	}
	return &sender{
		client: &http.Client{
			// A redirect is not followed, because the key would go to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		baseURL: strings.TrimRight(os.Getenv("CELLARBOOK_URL"), "/"),
		key:     os.Getenv("CELLARBOOK_KEY"),
		second:  second,
		chance:  mathrand.New(mathrand.NewSource(time.Now().UnixNano())),
	}, nil
}

// send returns the body of the answer. Every try has the same bytes and the same idempotency key.
func (s *sender) send(path string, content any) (string, error) {
	body, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return "", err
	}
	idempotencyKey := hex.EncodeToString(random)

	backoff := 1
	for try := 1; ; try++ {
		wait := backoff
		request, err := s.newRequest(path, idempotencyKey, body)
		if err != nil {
			return "", err
		}
		status, header, text, err := s.post(request)
		problem := fmt.Errorf("%d %s", status, text)
		switch {
		case err != nil:
			problem = err
		case status == http.StatusOK || status == http.StatusMultiStatus:
			return text, nil
		case !canPassLater(status):
			return "", fmt.Errorf("refused with %w", problem)
		}
		if try == triesMax {
			return "", fmt.Errorf("not stored after %d tries, keep the readings: %w", triesMax, problem)
		}
		if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil && seconds >= 0 {
			wait = seconds
		}
		log.Printf("%v: next try in %d s", problem, wait)
		// Up to a half longer, so that the devices of a fleet do not return at the same moment.
		time.Sleep(time.Duration(float64(wait) * (1 + s.chance.Float64()/2) * float64(s.second)))
		if backoff *= 2; backoff > backoffMax {
			backoff = backoffMax
		}
	}
}

func (s *sender) newRequest(path, idempotencyKey string, body []byte) (*http.Request, error) {
	request, err := http.NewRequest(http.MethodPost, s.baseURL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-API-Key", s.key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", idempotencyKey)
	return request, nil
}

// post sends once. Its error means that the connection broke, so the outcome is unknown.
func (s *sender) post(request *http.Request) (int, http.Header, string, error) {
	// One minute, and 1 ms for each byte of the body, because a line can be as slow as 1 KiB/s.
	s.client.Timeout = time.Minute + time.Duration(request.ContentLength)*time.Millisecond
	answer, err := s.client.Do(request)
	if err != nil {
		return 0, nil, "", err
	}
	defer answer.Body.Close()
	// A body that was read to its end lets the next request use the same connection.
	text, err := io.ReadAll(io.LimitReader(answer.Body, answerMax))
	return answer.StatusCode, answer.Header, string(text), err
}

func canPassLater(status int) bool {
	switch status {
	case 408, 409, 429, 500, 502, 503, 504:
		return true
	}
	return false
}

func newReading(keg string, value float64) reading {
	return reading{os.Getenv("CELLARBOOK_CELLAR"), "rack-17", keg, value, time.Now().UTC()}
}

func run() error {
	s, err := newSender()
	if err != nil {
		return err
	}
	answer, err := s.send("/api/v1/ingest", newReading("temperature", 21.5))
	if err != nil {
		return err
	}
	fmt.Println(answer)
	readings := []reading{newReading("temperature", 21.6), newReading("humidity", 64)}
	if answer, err = s.send("/api/v1/ingest/batch", batch{readings}); err != nil {
		return err
	}
	fmt.Println(answer)
	return nil
}

func main() {
	log.SetFlags(0)
	for _, name := range []string{"CELLARBOOK_URL", "CELLARBOOK_KEY", "CELLARBOOK_CELLAR"} {
		if os.Getenv(name) == "" {
			log.Fatalf("%s is not set", name)
		}
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
